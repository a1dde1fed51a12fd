// Package scenarios reads scenario files and makes experiments of them. It also
// contains the built-in library.
//
// Parse reads a file, Builtin returns a scenario of the library, and
// Scenario.Experiment makes a run of one strategy with one seed. A scenario file
// is YAML, strict and versioned: an unknown key is an error, all errors are
// reported at once with their places and, if possible, a suggestion, and limits on
// every value keep a hostile file harmless. Starter returns a commented example of
// the format, Keys its complete list.
//
// A scenario has one fleet or several. A fleet with its own strategy is
// background: it is the same for every strategy that is compared. Reports and
// verdicts cover all fleets, background included, because a strategy also affects
// the other fleets. An expectation may be limited to one fleet.
//
// A scenario may state expectations of its runs. Check runs them and reports which
// are met; the package's tests check the built-in library.
//
// The library has three groups: experiments, failures from public bug reports
// (case-NN, each with its sources), and claims of the reference experiments
// (claim-aNN, claim-bNN). The claims come from two articles in Chinese:
//
//   - 企业官网建设流程全解析 ("The complete process of building a company website";
//     the title does not match the text), on the business code 14003: claim-aNN,
//     p14003 and the presets article-14003*.
//   - 彻底解决AI模型容量报错：从重试算法到多模型降级实战 ("Solving capacity errors of AI
//     models completely: from retry algorithms to multi-model fallback in
//     practice"), on capacity errors: claim-bNN and the presets article-capacity,
//     article-fallback and article-three-tiers.
package scenarios

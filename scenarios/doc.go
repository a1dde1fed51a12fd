// Package scenarios reads scenario files and makes experiments of them. It
// also carries the built-in library.
//
// A scenario file is YAML, strict and versioned: nothing unknown is ignored,
// every mistake is reported at once with its place and, where one can be
// guessed, what was meant; limits on everything keep a hostile file harmless.
// Starter returns a commented example of the format, Keys all of it.
//
// A scenario has one fleet or several. A fleet with a strategy of its own is
// background, the same whatever is compared; reports and verdicts are about the
// whole, background included, because that is what a strategy does to the others.
// Expectations may be about one fleet.
//
// A scenario may say what it expects of its runs. Check runs them and says what
// holds; the built-in library is held to its word by the package's tests.
package scenarios

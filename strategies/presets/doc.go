// Package presets provides named strategies: the built-in ones, from the worst to the
// best, and the presets, which model public client libraries and applications with
// their defaults and their mistakes. presets.md lists how each preset fails.
//
// Most readers need three names: [Lookup] returns the strategy with a name, and
// [Builtins] and [Presets] list the strategies. Strategies that stay below a limit
// are built for the capacity in [Knowledge].
package presets

// Package presets has named strategies: the built-in ones, from the worst habit to
// the best, and models of public client libraries and applications with their
// defaults and their mistakes. How each preset fails is in presets.md.
//
// Most readers need three names: [Lookup] returns the strategy of a name, [Builtins]
// and [Presets] list them. [Knowledge] is the capacity that strategies which keep
// below a limit are built for.
package presets

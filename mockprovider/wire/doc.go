// Package wire has the values that travel between a client and a provider.
//
// Most readers need three names: a [Request] is one attempt as the provider sees it, a
// [Reply] what it answers, compactly, and an [Outcome] what a client understands of
// the reply; a [Reader] makes the one of the other. The package also has the inputs
// and effects of a provider's state machine, and the forms in which replies are
// written.
//
// All are small values without clocks: the simulator moves millions of them, and the
// HTTP server writes the same ones as bytes.
package wire

// Package conformance runs the field's real client libraries in virtual time
// and compares them with what herdlab says of them: its provider must be one
// that they cannot tell from a real one, and its presets must do what they do,
// and fail where they fail.
//
// It is a module of its own so that nobody who builds herdlab builds the SDKs.
package conformance

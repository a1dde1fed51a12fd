// Package conformance runs real client libraries in virtual time and compares them with
// herdlab: they must behave with its provider as with a real one, and its presets must
// make the same attempts as the libraries, and have the same failures.
//
// It is a separate module, so that herdlab itself does not depend on the SDKs.
package conformance

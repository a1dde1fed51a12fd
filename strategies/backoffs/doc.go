// Package backoffs has the schedules of waits between the attempts of a loop, each
// with its jitter. A backoff returns a base, which a longer hint of the provider may
// replace, and the jitter on top of it.
//
// Most readers need three names: [FullJitter], the plainest schedule that spreads a
// herd; [Exponential], the schedule of most libraries; [Capped], which bounds another
// one.
package backoffs

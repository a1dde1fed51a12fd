// Package metrics records what happens in a run, and what results of many runs
// are made of.
//
// A Recorder keeps two ledgers during a run: the provider's truth (what was
// answered and refused) and the clients' belief (what they took for a success).
// Silent loss is the difference. Its memory grows with the length of the run
// and not with the number of calls.
//
// Most readers need three names. A Report is the outcome of one run; Values are
// its metrics; a Result holds the metrics of many runs and is what files and
// pictures are made from. Package verdict concludes from a Result.
package metrics

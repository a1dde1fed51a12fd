// Package metrics counts what happens in a run, and says what the counts mean.
//
// A Recorder keeps two ledgers while a run goes on: the provider's truth (what
// was answered and refused) and the clients' belief (what was taken for a
// success). Silent loss is their difference. Its memory grows with the length
// of the run and not with the number of calls. A Report is what is left at the
// end; Values are the figures drawn from it; a Result is many of them. The
// Format functions write them for people, the same way in every table,
// sentence and picture.
package metrics

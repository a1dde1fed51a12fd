// Package verdict concludes from the runs of a comparison: 95 % intervals,
// paired tests, which strategies are fit to win, and which one wins.
//
// Most callers need three names. Summarise turns the runs of a strategy into
// metrics with intervals; Judge returns the Facts of a comparison, and
// Facts.Record is their form in a result file. The package writes no text: the
// program that prints a verdict does.
package verdict

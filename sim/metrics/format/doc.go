// Package format formats the values of metrics as text. Tables, sentences and
// pictures use it, so that a value reads the same everywhere.
//
// Most callers need Number, Percent and Time. Words breaks text into lines
// without separating a number from its unit.
package format

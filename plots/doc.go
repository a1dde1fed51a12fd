// Package plots draws the results of a comparison as figures: Attempts and
// Goodput over time with one panel per strategy, and Bars of the metrics that
// decide the verdict. Write draws all of them into files. A Figure is one picture
// that is written as PNG or SVG.
//
// A figure is a pure function of a metrics.Result: the same result gives the same
// bytes. Colour gives a strategy the same colour in every figure. Impossible values
// in a result, such as a fault that ends before it begins, are left out and never
// cause an error.
package plots

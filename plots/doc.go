// Package plots draws a metrics.Result: attempts and useful answers over time,
// one panel a strategy, and bars of what decides a comparison.
//
// A figure is a pure function of the result: the same result gives the same
// bytes, as PNG and as SVG. A strategy has one colour, by its name, in every
// figure. Impossible values in a result, such as a fault that ends before it
// begins, are left out and never fail a figure.
package plots

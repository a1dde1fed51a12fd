// Package browser opens the live page of herdlab serve in a headless Chromium
// and uses it as a person would. It is a module of its own so that nobody who
// builds herdlab builds a browser's driver. The tests need a Chromium: the one
// that CHROMIUM names, or else chromium in the path; without it they fail.
package browser

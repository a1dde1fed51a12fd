// Package browser tests the live page of herdlab serve in a headless Chromium. It is a
// separate module, so that herdlab itself does not depend on a browser driver. The
// tests need Chromium, at the path in CHROMIUM or in PATH, and fail without it.
package browser

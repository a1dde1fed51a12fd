// Package cli is the command line of herdlab: one file per verb, which parses
// its arguments, calls the packages below and prints the result.
//
// Results go to stdout, everything else to stderr. The exit code is 0 after
// success, 2 for an invalid command line or an invalid file, 130 after an
// interrupt, and 1 for any other failure.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command line of the process and returns its exit code.
func Main() int {
	// A closed pipe becomes a write error instead of ending the process before
	// its pictures are drawn.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}

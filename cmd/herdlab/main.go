// Command herdlab compares what clients do when a limited LLM provider says
// no, and says which strategy to ship.
//
//	herdlab compare            the founding experiment: a table, pictures, a verdict
//	herdlab init > my.yaml     a commented scenario to start from
//	herdlab compare my.yaml    the same for your own
//
// Results go to stdout, everything else to stderr. The exit code is 0 if all
// went well, 2 if the command line or a file must be put right, 130 after an
// interrupt, and 1 for whatever else went wrong.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A pipe that nobody reads any more becomes an error of its write, instead
	// of the death of the process before its pictures are drawn.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt kills
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// Package cli is the command line of herdlab: one file per verb, which parses its
// arguments, calls the packages below and prints the result.
//
// Results go to stdout, everything else to stderr. The exit code is 0 after success,
// 2 for an invalid command line or an invalid file, 130 after an interrupt, and 1 for
// any other failure.
//
// A program of another module adds parts of its own by Config.Parts:
//
//	func main() { os.Exit(cli.Main(cli.Config{Parts: parts()})) }
//
// herdlab is not published. A module in a directory beside a copy of its source uses a
// replacement or a workspace:
//
//	go mod init mylab
//	go mod edit -require=herdlab@v0.0.0 -replace=herdlab=../herdlab && go mod tidy
//	# or: go work init . ../herdlab
//	go run . scenarios --keys
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"herdlab/scenarios"
)

// Config configures a command line. The zero value is that of herdlab itself.
type Config struct {
	// Parts are the layers, limits, strategies and so on that the program adds to
	// those of herdlab. They work in all verbs as the built-in parts do.
	Parts scenarios.Parts
	// Args are the arguments; nil for those of the process.
	Args []string
	// Stdin, Stdout and Stderr are the streams; nil for those of the process.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns a variable of the environment; nil for that of the process.
	Getenv func(string) string
}

// Main runs the command line of the process until it ends or is interrupted, and returns the exit
// code of the process.
func Main(cfg Config) int {
	// A closed pipe becomes a write error instead of ending the process before its
	// pictures are drawn.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process
	return Run(ctx, cfg)
}

// Run runs the command line until it ends or ctx is cancelled, and returns the exit
// code. Unlike Main it changes nothing of the process, so tests can use it.
func Run(ctx context.Context, cfg Config) int {
	c := &console{stdin: cfg.Stdin, stdout: cfg.Stdout, stderr: cfg.Stderr, env: cfg.Getenv}
	args := cfg.Args
	if args == nil {
		args = os.Args[1:]
	}
	if c.stdin == nil {
		c.stdin = os.Stdin
	}
	if c.stdout == nil {
		c.stdout = os.Stdout
	}
	if c.stderr == nil {
		c.stderr = os.Stderr
	}
	if c.env == nil {
		c.env = os.Getenv
	}
	var err error
	if c.format, err = scenarios.NewFormat(cfg.Parts); err != nil {
		return c.report(internal(err))
	}
	return c.run(ctx, args)
}

// Command example is herdlab with parts of its own: layers, a pool, a backoff, a
// limit, a fault, a dialect and a strategy, each in one file. It is a module of its
// own, as the binary of another project would be.
//
//	go run . scenarios --keys           the keys of the parts, with those of herdlab
//	go run . compare testdata/own.yaml  a scenario that uses all of them
package main

import (
	"os"

	"herdlab/cmd/cli"
)

func main() { os.Exit(cli.Main(cli.Config{Parts: parts()})) }

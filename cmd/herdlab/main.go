// Command herdlab compares client strategies against a limited LLM provider
// and names the one to ship.
//
//	herdlab compare            the reference experiment: a table, pictures, a verdict
//	herdlab init > my.yaml     a commented scenario to start from
//	herdlab compare my.yaml    the same for your own scenario
package main

import (
	"os"

	"herdlab/cmd/cli"
)

func main() { os.Exit(cli.Main(cli.Config{})) }

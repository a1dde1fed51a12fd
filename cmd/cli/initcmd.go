package cli

import (
	"github.com/spf13/cobra"

	"herdlab/scenarios"
)

func (c *console) init() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Print a commented scenario to start from",
		Long: `Print a commented scenario file that can be compared without changes:

  herdlab init > my.yaml
  herdlab compare my.yaml

Its first line names a JSON Schema, by which editors complete and explain keys:

  herdlab scenarios --schema > herdlab.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.print(string(scenarios.Starter())) },
	}
}

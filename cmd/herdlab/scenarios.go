package main

import (
	"github.com/spf13/cobra"

	"herdlab/scenarios"
)

func (c *console) scenarios() *cobra.Command {
	return &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios",
		Long:  "List the built-in scenarios, one a line. Each is a name for compare.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var all group
			for _, l := range scenarios.List() {
				all.add(l.Name, l.Summary)
			}
			return c.print(list(all))
		},
	}
}

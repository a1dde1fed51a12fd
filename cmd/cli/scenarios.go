package cli

import (
	"github.com/spf13/cobra"

	"herdlab/scenarios"
)

func (c *console) scenarios() *cobra.Command {
	var keys bool
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios, or the keys of scenario files",
		Long: `List the built-in scenarios, one per line. compare, check and serve take their
names.

With --keys, list instead all keys of scenario files with their values: traffic,
limits, faults, layers, backoffs and the metrics of expectations.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if keys {
				return c.print(scenarios.Keys())
			}
			return c.print(listScenarios(scenarios.List()))
		},
	}
	cmd.Flags().BoolVar(&keys, "keys", false, "list all keys of scenario files and their values")
	return cmd
}

// listScenarios lists names and titles, group by group.
func listScenarios(all []scenarios.Listing) string {
	var groups []group
	for _, l := range all {
		if n := len(groups); n == 0 || groups[n-1].title != l.Group {
			groups = append(groups, group{title: l.Group})
		}
		groups[len(groups)-1].add(l.Name, l.Title)
	}
	return list(groups...)
}

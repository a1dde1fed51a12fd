package cli

import (
	"github.com/spf13/cobra"

	"herdlab/scenarios"
)

func (c *console) scenarios() *cobra.Command {
	var keys bool
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios, or all that a scenario can say",
		Long: `List the built-in scenarios by their kind, one a line. Each is a name for
compare, check and serve.

With --keys, list instead all keys that a scenario file may have, with what they
take: traffic, limits, faults, layers, backoffs and the metrics of expectations.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if keys {
				return c.print(scenarios.Keys())
			}
			return c.print(listScenarios(scenarios.List()))
		},
	}
	cmd.Flags().BoolVar(&keys, "keys", false, "list all keys of the format and what they take")
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

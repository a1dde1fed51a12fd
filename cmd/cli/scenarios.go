package cli

import (
	"github.com/spf13/cobra"

	"herdlab/scenarios"
)

func (c *console) scenarios() *cobra.Command {
	var keys, schema bool
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios, or the keys of scenario files",
		Long: `List the built-in scenarios, one per line. compare, check and serve take their
names.

With --keys, list instead all keys of scenario files: what each means, its
values and its default.

With --schema, print a JSON Schema of scenario files. Editors complete and
explain the keys of a file that names it, as the file of herdlab init does:

  herdlab scenarios --schema > herdlab.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case keys:
				return c.print(c.format.Keys())
			case schema:
				return c.print(c.format.Schema())
			}
			return c.print(listScenarios(scenarios.List()))
		},
	}
	cmd.Flags().BoolVar(&keys, "keys", false, "list all keys of scenario files, their meaning, values and defaults")
	cmd.Flags().BoolVar(&schema, "schema", false, "print a JSON Schema of scenario files, for editors")
	cmd.MarkFlagsMutuallyExclusive("keys", "schema")
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

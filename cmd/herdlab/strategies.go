package main

import (
	"strings"

	"github.com/spf13/cobra"

	"herdlab/strategies"
)

func (c *console) strategies() *cobra.Command {
	return &cobra.Command{
		Use:   "strategies",
		Short: "List the built-in strategies",
		Long:  "List the built-in strategies, one a line, from the worst habit to the best.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var names, about []string
			for _, b := range strategies.Builtins() {
				names, about = append(names, b.Name), append(about, b.Summary)
			}
			return c.print(list(names, about))
		},
	}
}

// list sets names and what they are about side by side, one a line: whoever
// writes a summary keeps it short.
func list(names, about []string) string {
	width := 0
	for _, n := range names {
		width = max(width, columns(n))
	}
	var b strings.Builder
	for i, n := range names {
		b.WriteString(n + strings.Repeat(" ", width-columns(n)+gap) + about[i] + "\n")
	}
	return b.String()
}

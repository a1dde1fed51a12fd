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

// list sets names and what they are about side by side, within the page.
func list(names, about []string) string {
	width := 0
	for _, n := range names {
		width = max(width, columns(n))
	}
	var b strings.Builder
	for i, n := range names {
		b.WriteString(n)
		b.WriteString(strings.Repeat(" ", width-columns(n)+gap))
		text := wrap(about[i], pageWidth-width-gap, 0)
		b.WriteString(strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", width+gap)))
		b.WriteByte('\n')
	}
	return b.String()
}

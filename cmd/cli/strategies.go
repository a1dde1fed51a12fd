package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"herdlab/strategies/presets"
)

func (c *console) strategies() *cobra.Command {
	return &cobra.Command{
		Use:   "strategies",
		Short: "List the built-in strategies",
		Long: `List the built-in strategies, from the worst to the best, then presets: models
of what real clients do by default, mistakes included, each with the version
that was read. A scenario file may name any of them, or describe a stack of
layers.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			own := group{title: "Strategies, from the worst to the best"}
			for _, b := range presets.Builtins() {
				own.add(b.Name, b.Summary)
			}
			field := group{title: "Presets: real clients with their defaults"}
			for _, p := range presets.Presets() {
				field.add(p.Name, p.Summary+" ["+p.Version+"]")
			}
			groups := []group{own, field}
			if more := c.format.Added(); len(more) > 0 {
				added := group{title: "Strategies of this program"}
				for _, b := range more {
					added.add(b.Name, b.Summary)
				}
				groups = append(groups, added)
			}
			return c.print(list(groups...))
		},
	}
}

// group is a part of a list under one title.
type group struct {
	title        string
	names, about []string
}

func (g *group) add(name, about string) {
	g.names, g.about = append(g.names, name), append(g.about, about)
}

// list returns the names and their descriptions in two columns, group by group.
func list(groups ...group) string {
	var b strings.Builder
	for i, g := range groups {
		width := 0
		for _, n := range g.names {
			width = max(width, columns(n))
		}
		if g.title != "" {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(g.title + "\n")
		}
		for i, n := range g.names {
			indent := width + gap
			about := wrap(g.about[i], pageWidth-indent, 0)
			b.WriteString(n + strings.Repeat(" ", indent-columns(n)) + strings.ReplaceAll(about, "\n", "\n"+strings.Repeat(" ", indent)) + "\n")
		}
	}
	return b.String()
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"herdlab/strategies"
)

func (c *console) strategies() *cobra.Command {
	return &cobra.Command{
		Use:   "strategies",
		Short: "List the strategies that have a name",
		Long: `List the strategies that have a name: those of our own from the worst habit to
the best, then models of what real clients do by default, faults included, with
the version that was read. A scenario file may name any of them, or stack
layers.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			own := group{title: "Our own, from the worst habit to the best"}
			for _, b := range strategies.Builtins() {
				own.add(b.Name, b.Summary)
			}
			field := group{title: "Clients of the field, as they are"}
			for _, p := range strategies.Presets() {
				field.add(p.Name, p.Summary+" ["+p.Version+"]")
			}
			return c.print(list(own, field))
		},
	}
}

// group is some things that belong together in a list.
type group struct {
	title        string
	names, about []string
}

func (g *group) add(name, about string) {
	g.names, g.about = append(g.names, name), append(g.about, about)
}

// list sets names and what they are about side by side, in groups that have
// titles if they are several.
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

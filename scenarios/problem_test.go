package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAllAtOnce checks a file with many errors: each is reported, in the order of
// the lines, and no other one.
func TestAllAtOnce(t *testing.T) {
	p := problems(t, `herdlab: 1
name: Second Peak
title: Many mistakes
horizon: 30
bni: 1s
fleet:
  clients: 0
  trafic: {one_shot: {within: 1ms}}
provider:
  limits:
    - window: {limit: 600/mim, per: nobody}
  capacity: {slots: 6, service: {lognormal: {mean: 2, cv: .nan}}}
faults:
  - outage: {from: 10s, to: 5s}
strategies: [naiv, full-jitter, fulljitter, full-jitter]
expect:
  - {strategy: naive, fleet: none, metric: attemps, from: 2s, to: 1, is: 3}
  - {metric: attempts, iss: 3}
`)
	var at []string
	for _, q := range p {
		at = append(at, fmt.Sprintf("%d:%d", q.Line, q.Column))
	}
	require.Equal(t, []string{
		"2:7", "4:10", "5:1", "7:12", "8:3", "11:23", "11:37", "12:52", "12:59", "14:29", "15:14", "15:33", "15:45",
		"17:44", "17:67", "18:5", "18:24", // references to a strategy, fleet or part are not checked
	}, at, "%v", p)
}

func TestProblemShowsItsLine(t *testing.T) {
	p := problems(t, with(t, "  clients", "  cleints: 3"))
	require.Equal(t, "x.yaml:7:3: unknown key \"cleints\" in fleet; did you mean \"clients\"?\n"+
		"    7 |   cleints: 3\n"+
		"      |   ^", p.Error())

	// Columns count characters, a long line is cut around the caret, and control
	// characters do not reach the terminal.
	long := "title: {\"" + strings.Repeat("é", 300) + "\u200b\": 1}  # " + strings.Repeat("-", 300)
	lines := strings.Split(problems(t, with(t, "bin", "binn: 1s  "+strings.Repeat("#", 200)+"\u009b")).Error(), "\n")
	require.Contains(t, lines[0], "not plain UTF-8")
	lines = strings.Split(problems(t, with(t, "title", long)).Error(), "\n")
	require.Len(t, lines, 3)
	require.Less(t, len([]rune(lines[1])), 120)
	require.NotContains(t, lines[1], "\u200b")

	lines = strings.Split(problems(t, with(t, "  capacity", "  capacity: {service: 2s, slots: "+strings.Repeat(" ", 300)+"many}")).Error(), "\n")
	caret := strings.Index(lines[2], "^")
	require.Equal(t, "many", lines[1][caret:caret+4])
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("herdlab: 1\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	p := problems(t, b.String())
	require.Len(t, p, 101)
	require.Regexp(t, `^x.yaml: and \d+ more$`, p[100].Error())
}

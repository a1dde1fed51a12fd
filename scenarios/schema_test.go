package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// compiledSchema returns the schema of the format as a validator.
func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("herdlab.schema.json", doc))
	s, err := c.Compile("herdlab.schema.json")
	require.NoError(t, err)
	return s
}

// asJSON reads YAML as an editor does: numbers and booleans are no texts.
func asJSON(t *testing.T, src []byte) any {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal(src, &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	return doc
}

// files are the files of the library and the starter.
func files(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"starter": Starter()}
	for _, name := range builtins() {
		s, err := Builtin(name)
		require.NoError(t, err)
		all[name] = []byte(s.Source())
	}
	return all
}

// Every file of the library is valid by the schema.
func TestSchemaAcceptsTheLibrary(t *testing.T) {
	s := compiledSchema(t)
	for name, src := range files(t) {
		require.NoError(t, s.Validate(asJSON(t, src)), name)
	}
}

// Every layer, backoff, trip and limit that can be written is valid by the schema.
func TestSchemaAcceptsEveryKind(t *testing.T) {
	s := compiledSchema(t)
	head := "{herdlab: 1, name: x, title: X, horizon: 1m, fleet: {clients: 1, traffic: trace}, provider: {}, strategies: [{name: x, stack: [%s]}]}"
	for name, settings := range written {
		require.NoError(t, s.Validate(asJSON(t, fmt.Appendf(nil, head, name+": "+settings))), name)
	}
	for name, settings := range writtenBackoffs {
		require.NoError(t, s.Validate(asJSON(t, fmt.Appendf(nil, head, "retry: {backoff: {"+name+": "+settings+"}}"))), name)
	}
	for _, faults := range []string{
		"outage: {from: 0s, to: 1h, reply: 529, retry_after: 5s}", "silence", "silence: {when: after_work, probability: 50%}", "skew: {ahead: -90s}",
		"errors: {class: rate, where: {accounts: 5-, models: big}}", "script: {answers: [{errors: {class: rate}}, pass, silence], by_call: true}", "spoil: {body: doubled}",
	} {
		src := "{herdlab: 1, name: x, title: X, horizon: 1m, fleet: {clients: 1, traffic: {at: [0s]}}, provider: {}, faults: [" + faults + "], strategies: [naive]}"
		require.NoError(t, s.Validate(asJSON(t, []byte(src))), faults)
	}
	for _, limit := range []string{
		"window: {limit: 60/min, per: [account, model], reply: 14003, retry_after: rounded_down, spelled: both, keep: all, should_retry: false}",
		"sliding_log: {limit: 9/min, charge: {count: all_tokens, when: reserved, least: 16}, wrong_by: 50%, says: 20}", "token_bucket: {limit: 0.5/s, burst: 3}",
		"tiered: [{match: {accounts: 0-4}, limit: {window: {limit: 600/min}}}]", "only: {match: {keys: 3}, limit: {concurrency: {limit: 10}}}", "ramp: {base: 5, length: 1m, growth: 150%}",
	} {
		src := "{herdlab: 1, name: x, title: X, horizon: 1m, fleet: {clients: 1, traffic: trace}, provider: {limits: [" + limit + "]}, strategies: [naive]}"
		require.NoError(t, s.Validate(asJSON(t, []byte(src))), limit)
	}
}

// A key of a library file that is misspelt, and a scalar that is replaced by a
// mapping, are invalid by the schema, as they are when the file is read.
func TestSchemaRefusesBrokenFiles(t *testing.T) {
	s := compiledSchema(t)
	broken := 0
	for name, src := range files(t) {
		var doc yaml.Node
		require.NoError(t, yaml.Unmarshal(src, &doc))
		places := 0
		check := func(n *yaml.Node, what string) {
			text, err := yaml.Marshal(&doc)
			require.NoError(t, err)
			_, err = Parse(name, text)
			require.Error(t, err, "%s: %s in line %d", name, what, n.Line)
			require.Error(t, s.Validate(asJSON(t, text)), "%s: %s in line %d", name, what, n.Line)
			broken++
		}
		var walk func(n *yaml.Node, named bool)
		walk = func(n *yaml.Node, named bool) {
			for i, child := range n.Content {
				isKey := n.Kind == yaml.MappingNode && i%2 == 0
				if child.Kind == yaml.ScalarNode {
					if places++; places%7 == len(name)%7 { // a part of them is enough
						was := *child
						switch {
						case isKey && !named:
							child.Value += "x"
							check(&was, "the key "+was.Value+", misspelt")
						case !isKey:
							*child = yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "nonsense"}, {Kind: yaml.ScalarNode, Value: "1"}}}
							check(&was, was.Value+", replaced by a mapping")
						}
						*child = was
					}
					continue
				}
				names := false // whose keys are names that the file gives
				if n.Kind == yaml.MappingNode && !isKey {
					switch n.Content[i-1].Value {
					case "models", "regions", "fleets":
						names = child.Kind == yaml.MappingNode
					}
				}
				walk(child, names)
			}
		}
		walk(&doc, false)
	}
	require.Greater(t, broken, 500)
}

// What is wrong with a value, and not with its kind, is invalid by the schema too.
func TestSchemaRefusesWrongValues(t *testing.T) {
	s := compiledSchema(t)
	const valid = `herdlab: 1
name: x
title: X
horizon: 10m
bin: 1s
fleet: {clients: 3, traffic: {closed: {think: 1s, calls: 5}}, tokens: {input: 10}, account: shared, key: 0}
provider:
  tells: 1
  abandoned: never
  capacity: {slots: 2, queue: 3, service: {exponential: 2s}, discipline: {order: fifo}}
  limits: [window: {limit: 20/s, retry_after: exact, per: account, keep: none}]
faults:
  - outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}
strategies:
  - naive
  - {name: mine, reader: body, stack: [retry: {backoff: fixed, max_attempts: 3, hints: {use: as_floor, spread: 20%}, on: {classes: transient, statuses: [500-599], marks: stop}}, breaker: {failures: 5, open_for: 30s, fail_fast: true, scope: fleet}]}
expect:
  - {metric: attempts, at_least: 1, seeds: 2, on: mean}
`
	require.NoError(t, s.Validate(asJSON(t, []byte(valid))))
	_, err := Parse("x.yaml", []byte(valid))
	require.NoError(t, err)
	for _, c := range [][2]string{
		{"herdlab: 1", "herdlab: 2"}, {"name: x", "name: X Y"}, {"title: X", "title: [X]"}, {"horizon: 10m", "horizon: 10"}, {"horizon: 10m", "horizon: 10 minutes"},
		{"horizon: 10m", "horizon: -10m"}, {"horizon: 10m", "horizon: 10m 5"}, {"bin: 1s", "bin: 1sec"}, {"bin: 1s", "bin: true"}, {"clients: 3", "clients: 0"}, {"clients: 3", "clients: 10000001"},
		{"clients: 3", "clients: many"}, {"clients: 3", "clients: 2.5"}, {"{closed: {think: 1s, calls: 5}}", "closed"}, {"{closed: {think: 1s, calls: 5}}", "{closed: {calls: 5}}"},
		{"calls: 5", "calls: 0"}, {"{closed: {think: 1s, calls: 5}}", "{closd: {think: 1s}}"}, {"{closed: {think: 1s, calls: 5}}", "{closed: {think: 1s}, open: {rate: 1/s}}"},
		{"{closed: {think: 1s, calls: 5}}", "{open: {rate: 5}}"}, {"{closed: {think: 1s, calls: 5}}", "{open: {rate: 5/fortnight}}"}, {"{closed: {think: 1s, calls: 5}}", "{at: [1, 2]}"},
		{"{closed: {think: 1s, calls: 5}}", "{bursts: {from: 1s, calls: 2}}"}, {"{closed: {think: 1s, calls: 5}}", "{bursts: [{from: 1s}]}"}, {"{closed: {think: 1s, calls: 5}}", "{periodic: {}}"},
		{"{closed: {think: 1s, calls: 5}}", "sometimes"}, {"tokens: {input: 10}", "tokens: 10"}, {"tokens: {input: 10}", "tokens: {input: -1}"}, {"tokens: {input: 10}", "tokens: [{input: 1}]"}, {"tokens: {input: 10}", "tokens: []"},
		{"account: shared", "account: own"}, {"key: 0", "key: 256"}, {"key: 0", "key: -1"}, {"key: 0", "address: mine"}, {"key: 0", "network: {up: fast}"}, {"key: 0", "clock: {behind: 1}"}, {"key: 0", "stream: maybe"},
		{"key: 0", "patience: ever"}, {"tells: 1", "tells: 0"}, {"tells: 1", "tells: 17"}, {"abandoned: never", "abandoned: soon"}, {"slots: 2", "slots: 0"}, {"slots: 2", "slots: two"}, {"queue: 3", "queue: -3"},
		{"{exponential: 2s}", "{gamma: 2s}"}, {"{exponential: 2s}", "{uniform: [1s]}"}, {"{exponential: 2s}", "{uniform: [1s, 2s, 3s]}"}, {"{exponential: 2s}", "{lognormal: {mean: 2s}}"}, {"{exponential: 2s}", "{sample: []}"}, {"{exponential: 2s}", "2"},
		{"{exponential: 2s}", "{first_token: 1s}"}, {"order: fifo", "order: random"}, {"order: fifo", "codel: {target: 5}"}, {"limit: 20/s", "limit: 20"}, {"limit: 20/s", "limit: /s"}, {"limit: 20/s", "limit: 20 per s"}, {"limit: 20/s", "limits: 20/s"},
		{"limit: 20/s, ", ""}, {"retry_after: exact", "retry_after: exactly"}, {"retry_after: exact", "retry_after: 5"}, {"retry_after: exact", "wrong_by: -1"}, {"retry_after: exact", "spelled: aloud"}, {"retry_after: exact", "should_retry: perhaps"},
		{"retry_after: exact", "says: 0"}, {"retry_after: exact", "jitter_hint: 5"}, {"retry_after: exact", "reply: 418"}, {"per: account", "per: user"}, {"per: account", "per: [account, user]"}, {"keep: none", "keep: some"},
		{"keep: none", "charge: {count: words}"}, {"keep: none", "charge: {when: later}"}, {"keep: none", "charge: {failed: free}"}, {"keep: none", "burst: 5"}, {"keep: none", "anchored: 1"}, {"[window: {", "[funnel: {"}, {"[window: {limit: 20/s, retry_after: exact, per: account, keep: none}]", "[joint: {limit: 20/s, charge: {count: requests}}]"},
		{"[window: {limit: 20/s, retry_after: exact, per: account, keep: none}]", "[concurrency: {limit: 0}]"}, {"[window: {limit: 20/s, retry_after: exact, per: account, keep: none}]", "[concurrency]"}, {"[window: {limit: 20/s, retry_after: exact, per: account, keep: none}]", "{concurrency: {limit: 2}}"},
		{"from: 5s, ", ""}, {", to: 8s", ""}, {"from: 5s", "from: five"}, {"probability: 0.5", "probability: often"}, {"probability: 0.5", "probability: -0.5"}, {"probability: 0.5", "where: {fleet: 1}"}, {"probability: 0.5", "percent: 5"},
		{"reply: 503", "reply: 999"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "outage"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "errors: {class: ok}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "expiry: {class: rate}"},
		{"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "silence: {when: after_head}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "brownout: {percent: 100}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "brownout: {}"},
		{"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "limit_cut: {percent: 40%, limit: 0}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "skew: {ahead: far}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "spoil: {body: code_body}"},
		{"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "stall: {tokens: -1}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "earthquake: {}"}, {"outage: {from: 5s, to: 8s, probability: 0.5, reply: 503}", "script: {answers: [sorry]}"},
		{"  - naive", "  - niave"}, {"  - naive", "  - {name: niave}"}, {"  - naive", "  - {reader: body}"}, {"reader: body", "reader: eyes"}, {"stack: [", "layers: ["}, {"backoff: fixed", "backoff: fixd"}, {"backoff: fixed, ", ""}, {"backoff: fixed", "backoff: exponential"},
		{"backoff: fixed", "backoff: {fixed: {every: 5}}"}, {"max_attempts: 3", "max_attempts: three"}, {"max_attempts: 3", "max_retries: 3"}, {"use: as_floor", "use: never"}, {"spread: 20%", "spread: 2000"}, {"spread: 20%", "spread: 0.2"}, {"classes: transient", "classes: temporary"},
		{"statuses: [500-599]", "statuses: [5xx]"}, {"statuses: [500-599]", "statuses: 500"}, {"marks: stop", "marks: maybe"}, {"open_for: 30s, ", ""}, {"scope: fleet", "scope: call"}, {"scope: fleet", "scope: world"}, {"fail_fast: true", "fail_fast: 1"}, {"failures: 5", "failures: -5"},
		{"failures: 5", "probes: 1001"}, {"breaker: {", "fuse: {"}, {"metric: attempts", "metric: attemps"}, {"metric: attempts, ", ""}, {"at_least: 1", "at_least: [1]"}, {"at_least: 1", "between: [1]"}, {"at_least: 1", "is: sometimes"}, {"at_least: 1", "at_least: {times: 2}"},
		{"seeds: 2", "seeds: 0"}, {"seeds: 2", "seeds: 10001"}, {"on: mean", "on: mode"},
		{"fleet: {", "fleets: {"}, {"strategies:\n", "strategy:\n"}, {"provider:\n", "providers:\n"}, {"faults:\n", "fault:\n"},
	} {
		require.Equal(t, 1, strings.Count(valid, c[0]), c[0])
		src := []byte(strings.Replace(valid, c[0], c[1], 1))
		what := c[0] + " becomes " + c[1]
		_, err := Parse("x.yaml", src)
		require.Error(t, err, what)
		require.Error(t, s.Validate(asJSON(t, src)), what)
	}
}

// Editors show what the schema says of keys and words.
func TestSchemaExplains(t *testing.T) {
	var doc struct {
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			Enum             []any
			EnumDescriptions []string
			Properties       map[string]struct {
				Description string
				Default     any
				Examples    []any
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(Schema()), &doc))
	require.Equal(t, "The width of the bins in which events are counted for tables and pictures. (default 1s)", doc.Properties["bin"].Description)
	breaker := doc.Defs["layer.breaker"].Properties
	require.Equal(t, "How long the breaker stays open before it lets a probe through. (required, such as 30s)", breaker["open_for"].Description)
	require.Equal(t, []any{"30s"}, breaker["open_for"].Examples)
	require.Equal(t, 1.0, breaker["probes"].Default)
	require.Contains(t, doc.Defs["mark_use"].Enum, "decide")
	require.Len(t, doc.Defs["mark_use"].EnumDescriptions, len(doc.Defs["mark_use"].Enum))
}

package scenarios

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Schema returns a JSON Schema (draft 2020-12) of scenario files with the parts of
// this module. Editors complete and explain the keys of files by it. It comes from
// the tables that files are read by; what a file says beyond its form, such as
// times that must lie before the horizon, it does not know.
func Schema() string { return builtinFormat.Schema() }

// Schema is the function Schema with the parts of the format.
func (f *Format) Schema() string {
	m := &schemaMaker{format: f, defs: schema{}, names: map[reflect.Type]string{}}
	root := m.object(form[scenarioForm]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A herdlab scenario"
	root["oneOf"] = []schema{{"required": []string{"fleet"}}, {"required": []string{"fleets"}}}
	root["$defs"] = m.defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // it is made of maps, lists and texts
	}
	return string(text) + "\n"
}

// schema is a JSON Schema or a part of one.
type schema map[string]any

// schemaMaker makes the schema of a format.
type schemaMaker struct {
	format *Format
	defs   schema
	names  map[reflect.Type]string // of the definitions of types
}

// The patterns of texts, as far as a regular expression can tell.
const (
	durationPattern = `([0-9]+(\.[0-9]+)?(d|h|m|min|s|ms|us|µs|ns))+`
	numberPattern   = `[0-9]+(\.[0-9]+)?`
	ratePattern     = `^` + numberPattern + ` */ *(` + durationPattern + `|d|h|m|min|s|ms|us|µs|ns)$`
	namePattern     = `^[a-z0-9][a-z0-9.-]{0,63}$`
)

func pattern(p string) schema { return schema{"type": "string", "pattern": p} }

// anyText is what a file may write for a text: YAML takes 14003 and true for a
// number and a boolean.
func anyText() schema { return schema{"type": []string{"string", "number", "boolean"}} }

// number is a decimal ≥ 0, or a percentage.
func number() schema {
	return schema{"anyOf": []schema{{"type": "number", "minimum": 0}, pattern(`^` + numberPattern + `%$`)}}
}

func anyOf(all ...schema) schema { return schema{"anyOf": all} }

func listOf(items schema, least, most int) schema {
	return schema{"type": "array", "items": items, "minItems": least, "maxItems": most}
}

// enum is one of several names. Those that YAML takes for something else may be
// written without quotes.
func enum(names []string) schema {
	var all []any
	for _, name := range names {
		all = append(all, name)
		if n, err := strconv.Atoi(name); err == nil {
			all = append(all, n)
		}
		if b, err := strconv.ParseBool(name); err == nil && len(name) > 1 {
			all = append(all, b)
		}
	}
	return schema{"enum": all}
}

// define returns a reference to the definition of a name, which make makes when it
// is first asked for: a definition may contain itself.
func (m *schemaMaker) define(name string, make func() schema) schema {
	if _, ok := m.defs[name]; !ok {
		m.defs[name] = nil
		m.defs[name] = make()
	}
	return schema{"$ref": "#/$defs/" + name}
}

// typed does the same for a type.
func (m *schemaMaker) typed(t reflect.Type, make func() schema) schema {
	name, ok := m.names[t]
	if !ok {
		name = snake(t.Name())
		for n := 2; m.has(name); n++ {
			name = fmt.Sprintf("%s_%d", snake(t.Name()), n)
		}
		m.names[t] = name
	}
	return m.define(name, make)
}

func (m *schemaMaker) has(name string) bool {
	_, ok := m.defs[name]
	return ok
}

// object is a mapping with the keys of settings.
func (m *schemaMaker) object(of []setting) schema {
	properties, required := schema{}, []string{}
	for i := range of {
		s := &of[i]
		properties[s.key] = m.setting(s)
		if s.to.Type() == refusalType {
			for _, more := range form[refusalForm]() {
				properties[more.key] = m.setting(&more)
			}
		}
		if s.required != "" {
			required = append(required, s.key)
		}
	}
	o := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// setting is the value of a setting, with what it means.
func (m *schemaMaker) setting(s *setting) schema {
	x := schema{}
	for k, v := range m.value(s.to.Type(), s) {
		x[k] = v
	}
	text := s.about
	if fallback := s.fallback(); fallback != "" {
		text = strings.TrimSpace(text + " (" + fallback + ")")
	}
	if text != "" {
		x["description"] = text
	}
	if s.required != "" {
		x["examples"] = []any{s.literal(s.required)}
	} else if v := s.usual(); v != "" {
		x["default"] = s.literal(v)
	}
	return x
}

// literal is a value as JSON writes it. One that is not a scalar remains a text.
func (s *setting) literal(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return x
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

// value is a value of a type, which is that of the field of f or of a part of it.
func (m *schemaMaker) value(t reflect.Type, f *setting) schema {
	if of := enumerated(t); of != nil {
		return m.enumeration(t, of, f)
	}
	if c, ok := choices[t]; ok {
		return m.typed(t, func() schema { return m.selection(snake(t.Name()), c.kinds(m.format), nil) })
	}
	if s, ok := spellingOf(t); ok {
		return m.typed(t, func() schema { return s.schema(m) })
	}
	switch {
	case f.names != "" && t.Kind() == reflect.Uint8:
		return anyText()
	case t == durationType:
		if low, _ := f.durations(); low < 0 {
			return pattern("^-?" + durationPattern + "$")
		}
		return m.define("duration", func() schema { return pattern("^" + durationPattern + "$") })
	case t == distType:
		return m.define("time", m.dist)
	}
	switch t.Kind() {
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.String:
		return anyText()
	case reflect.Float64:
		return m.define("number", number)
	case reflect.Slice:
		return listOf(m.value(t.Elem(), f), 0, maxItems)
	case reflect.Array:
		return listOf(m.value(t.Elem(), f), t.Len(), t.Len())
	case reflect.Pointer:
		return m.value(t.Elem(), f)
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": m.value(t.Elem(), f), "maxProperties": maxModels}
	case reflect.Struct:
		return m.typed(t, func() schema { return m.object(settingsOf(t)) })
	}
	if f.per.IsValid() {
		return m.define("rate", func() schema { return pattern(ratePattern) })
	}
	low, high := f.integers(t)
	n := schema{"type": "integer", "minimum": low, "maximum": high}
	if f.unit == percent {
		return anyOf(n, pattern(`^[0-9]+%$`))
	}
	return n
}

// enumeration is a word of an enumeration.
func (m *schemaMaker) enumeration(t reflect.Type, of enumeration, f *setting) schema {
	make := func() schema {
		names, values := f.words(of)
		var meanings []string
		for _, v := range values {
			meanings = append(meanings, of.Names()[v][1])
		}
		x := enum(names)
		x["enumDescriptions"] = meanings // which editors show
		return x
	}
	if len(f.permits)+len(f.excludes) > 0 {
		return make()
	}
	return m.typed(t, make)
}

// selection is one of several kinds: its name alone, where it needs no settings, or
// a mapping of the name to the settings. more are settings that each has besides.
func (m *schemaMaker) selection(prefix string, kinds []Kind, more func(*Kind) []setting) schema {
	var alone []string
	properties := schema{}
	for i := range kinds {
		k := &kinds[i]
		if k.Prototype == nil {
			alone = append(alone, k.Name)
			properties[k.Name] = schema{"type": "null", "description": k.Summary}
			continue
		}
		v := k.fresh()
		if v.Kind() != reflect.Struct {
			body := m.value(v.Type(), &setting{key: k.Name})
			body["description"] = k.Summary
			properties[k.Name] = body
			continue
		}
		own := settings(v)
		if more != nil {
			own = append(more(k), own...)
		}
		needy := slices.ContainsFunc(own, func(s setting) bool { return s.required != "" })
		if !needy {
			alone = append(alone, k.Name)
		}
		body := m.define(prefix+"."+k.Name, func() schema {
			o := m.object(own)
			if !needy {
				o["type"] = []string{"object", "null"}
			}
			return o
		})
		body["description"] = k.Summary
		properties[k.Name] = body
	}
	one := schema{"type": "object", "additionalProperties": false, "properties": properties, "minProperties": 1, "maxProperties": 1}
	if len(alone) == 0 {
		return one
	}
	return anyOf(enum(alone), one)
}

// dist is a duration that may vary.
func (m *schemaMaker) dist() schema {
	duration := m.value(durationType, &setting{})
	return anyOf(duration, schema{
		"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
		"properties": schema{
			"uniform":     listOf(duration, 2, 2),
			"exponential": duration,
			"lognormal":   m.object(form[lognormalForm]()),
			"sample":      listOf(duration, 1, maxItems),
		},
	})
}

package scenarios

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// Limits on a file as text, checked before or while its tree is built.
const (
	maxBytes = 1 << 20
	maxDepth = 64
	tooDeep  = "nested deeper than 64 levels"
)

// document reads the tree of a file: one YAML document without anchors, aliases
// and tags. It returns nil after an error.
func (d *decoder) document(src []byte) *yaml.Node {
	if len(src) > maxBytes {
		d.complainAt(0, 0, "the file is larger than 1 MiB, the maximum for a scenario")
		return nil
	}
	if line, column, ok := d.unreadable(); ok {
		d.complainAt(line, column, "the file is not plain UTF-8 text")
		return nil
	}
	var doc yaml.Node
	limits := loaderlimits.New(loaderlimits.DepthValue(maxDepth), loaderlimits.AliasValue(0))
	docs, err := yaml.NewLoader(bytes.NewReader(src), yaml.WithPlugin(limits))
	if err == nil {
		err = docs.Load(&doc)
	}
	switch {
	case err == io.EOF || err == nil && len(doc.Content) == 0:
		d.complainAt(0, 0, "the file has no content; herdlab init writes an example scenario")
		return nil
	case err != nil:
		d.syntax(err)
		return nil
	}
	root := doc.Content[0]
	var second yaml.Node
	switch err := docs.Load(&second); {
	case err == nil:
		d.complain(&second, "a second YAML document begins here; a scenario is one document")
	case err != io.EOF:
		d.syntax(err)
	}
	d.plain(root, 1)
	if len(d.problems) > 0 {
		return nil
	}
	return root
}

// unreadable finds the first character that is not allowed: bytes that are not
// UTF-8, control characters, and line ends that YAML counts and editors do not.
func (d *decoder) unreadable() (line, column int, found bool) {
	for i, text := range d.lines {
		column = 0
		for at, size := 0, 0; at < len(text); at += size {
			var r rune
			r, size = utf8.DecodeRuneInString(text[at:])
			column++
			lastCR := r == '\r' && at+size == len(text)
			if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\t' && !lastCR || r == '\u2028' || r == '\u2029' {
				return i + 1, column, true
			}
		}
	}
	return 0, 0, false
}

// syntax reports an error of the YAML parser.
func (d *decoder) syntax(err error) {
	var all *yaml.LoadErrors
	if errors.As(err, &all) && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		d.complainAt(0, 0, "not YAML: %v", err)
		return
	}
	message := e.Message
	switch {
	case strings.Contains(message, "exceeded max depth"):
		message = tooDeep
	case strings.Contains(message, "tab character"),
		strings.Contains(message, "cannot start any token") && d.tabAt(e.Mark.Line):
		message = "a tab is not allowed here; indent with spaces"
	case e.ContextMsg != "":
		message = "not YAML: " + message + ", " + e.ContextMsg
	default:
		message = "not YAML: " + message
	}
	d.complainAt(e.Mark.Line, e.Mark.Column, "%s", message)
}

func (d *decoder) tabAt(line int) bool {
	return line >= 1 && line <= len(d.lines) && strings.Contains(d.lines[line-1], "\t")
}

// plain reports anchors, aliases and tags, and a nesting depth that the loader does
// not detect because it counts blocks and brackets separately. It does not follow
// aliases, so it terminates.
func (d *decoder) plain(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth && len(n.Content) > 0:
		d.complain(n, tooDeep)
		return
	case n.Kind == yaml.AliasNode:
		d.complain(n, "aliases (*%s) are not allowed in scenarios; write the value instead", short(n.Value))
	case n.Anchor != "":
		d.complain(n, "anchors (&%s) are not allowed in scenarios; repeat the value instead", short(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0:
		d.complain(n, "tags (%s) are not allowed in scenarios; remove it", quoted(n.Tag))
	}
	for _, child := range n.Content {
		d.plain(child, depth+1)
	}
}

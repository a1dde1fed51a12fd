package dialect

import (
	"net/url"
	"slices"
	"strings"
)

// route is a path of a dialect.
type route struct {
	method string
	// path is the path, in which {model} stands for a model.
	path      string
	operation Operation
	stream    bool // answers are streams, whatever the body contains
}

// match reports whether path is that of the route, and returns the model in it.
func (r *route) match(path string) (model string, ok bool) {
	p := newPathPattern(r.path)
	return p.match(path)
}

// keyPlace is a place of an API key: a header, after scheme and before until,
// or a parameter of the query.
type keyPlace struct{ header, scheme, until, query string }

// Routes returns the methods and paths of the dialect, such as "POST
// /v1/chat/completions". {model} stands for a model.
func (d *Dialect) Routes() []string {
	var all []string
	for _, r := range d.routes {
		all = append(all, r.method+" "+r.path)
	}
	return all
}

// Answers reports whether the dialect has that path, with any method.
func (d *Dialect) Answers(path string) bool {
	return slices.ContainsFunc(d.routes, func(r route) bool {
		_, ok := r.match(path)
		return ok
	})
}

// route returns the route of a request and the model in its path. If there is
// none, other is a route of the same path with another method, or nil.
func (d *Dialect) route(in *RawRequest) (found *route, model string, other *route) {
	for i := range d.routes {
		r := &d.routes[i]
		if model, ok := r.match(in.Path); ok {
			if r.method == in.Method {
				return r, model, nil
			}
			other = r
		}
	}
	return nil, "", other
}

// key returns the first API key of a request, or "".
func (d *Dialect) key(in *RawRequest) string {
	for _, k := range d.keys {
		if k.query != "" {
			// Ignore malformed parts of the query.
			if values, _ := url.ParseQuery(in.Query); values.Get(k.query) != "" {
				return values.Get(k.query)
			}
			continue
		}
		if in.Header == nil {
			continue
		}
		value := strings.TrimSpace(in.Header(k.header))
		if n := len(k.scheme); len(value) > n && strings.EqualFold(value[:n], k.scheme) {
			name := value[n:]
			if k.until != "" {
				name, _, _ = strings.Cut(name, k.until)
			}
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// pathPattern is the path of a route: the whole path or, if it contains a
// model, the parts before and after the model.
type pathPattern struct {
	before, after string
	variable      bool
}

// newPathPattern returns the pattern of a path, in which {model} stands for a
// model.
func newPathPattern(path string) pathPattern {
	before, after, variable := strings.Cut(path, "{model}")
	return pathPattern{before, after, variable}
}

// match reports whether path has the pattern, and returns the model in it.
func (p *pathPattern) match(path string) (model string, ok bool) {
	if !p.variable {
		return "", path == p.before
	}
	if len(path) <= len(p.before)+len(p.after) || !strings.HasPrefix(path, p.before) || !strings.HasSuffix(path, p.after) {
		return "", false
	}
	return path[len(p.before) : len(path)-len(p.after)], true
}

// dialectPath is a path of a dialect.
type dialectPath struct {
	pathPattern
	dialect *Dialect
}

// dialectPaths are the paths of all dialects, in the order of the dialects.
// They are in one slice because servers search them for every request.
var dialectPaths = pathsOf(dialects)

func pathsOf(all []Dialect) (paths []dialectPath) {
	for i := range all {
		for _, r := range all[i].routes {
			paths = append(paths, dialectPath{newPathPattern(r.path), &all[i]})
		}
	}
	return paths
}

// ByPath returns the dialect that has the path of a request, and whether there
// is one. If several dialects have it, ByPath returns the one whose clients
// send a header that others do not send, else the first in the order of All.
func ByPath(in *RawRequest) (found *Dialect, ok bool) {
	for i := range dialectPaths {
		p := &dialectPaths[i]
		if _, ok := p.match(in.Path); !ok {
			continue
		}
		if d := p.dialect; d.versionHeader != "" && in.Header != nil && in.Header(d.versionHeader) != "" {
			return d, true
		}
		if found == nil {
			found = p.dialect
		}
	}
	return found, found != nil
}

package dialect

import "strings"

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

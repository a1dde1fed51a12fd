package dialect

import "strings"

// pathPattern is the path of a route: the whole of it or, if there is a model in it,
// what stands before and after that.
type pathPattern struct {
	before, after string
	variable      bool
	dialect       *Dialect
}

func (a *pathPattern) matches(path string) bool {
	if !a.variable {
		return path == a.before
	}
	return len(path) > len(a.before)+len(a.after) && strings.HasPrefix(path, a.before) && strings.HasSuffix(path, a.after)
}

// pathPatterns are those of the dialects, in their order. They stand close together
// because servers go through them for every request.
var pathPatterns = pathPatternsOf(dialects)

func pathPatternsOf(all []Dialect) (pathPatterns []pathPattern) {
	for i := range all {
		for _, r := range all[i].routes {
			before, after, variable := strings.Cut(r.path, "{model}")
			pathPatterns = append(pathPatterns, pathPattern{before, after, variable, &all[i]})
		}
	}
	return pathPatterns
}

// ByPath returns the dialect that answers the path of a request, and whether
// there is one. Where several do, the one decides whose clients send a header
// that others' do not, else the order of All.
func ByPath(in *RawRequest) (found *Dialect, ok bool) {
	for i := range pathPatterns {
		a := &pathPatterns[i]
		if !a.matches(in.Path) {
			continue
		}
		if d := a.dialect; d.versionHeader != "" && in.Header != nil && in.Header(d.versionHeader) != "" {
			return d, true
		}
		if found == nil {
			found = a.dialect
		}
	}
	return found, found != nil
}

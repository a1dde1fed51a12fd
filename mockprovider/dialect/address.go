package dialect

import "strings"

// address is the path of a route: the whole of it or, if there is a model in it,
// what stands before and after that.
type address struct {
	before, after string
	variable      bool
	dialect       *Dialect
}

func (a *address) is(path string) bool {
	if !a.variable {
		return path == a.before
	}
	return len(path) > len(a.before)+len(a.after) && strings.HasPrefix(path, a.before) && strings.HasSuffix(path, a.after)
}

// addresses are those of the dialects, in their order. They stand close together
// because servers go through them for every request.
var addresses = addressesOf(dialects)

func addressesOf(all []Dialect) (addresses []address) {
	for i := range all {
		for _, r := range all[i].routes {
			before, after, variable := strings.Cut(r.path, "{model}")
			addresses = append(addresses, address{before, after, variable, &all[i]})
		}
	}
	return addresses
}

// Addressed returns the dialect that answers the path of a request, and whether
// there is one. Where several do, the one decides whose clients send a header
// that others' do not, else the order of All.
func Addressed(in *Asked) (found *Dialect, ok bool) {
	for i := range addresses {
		a := &addresses[i]
		if !a.is(in.Path) {
			continue
		}
		if d := a.dialect; d.version != "" && in.Header != nil && in.Header(d.version) != "" {
			return d, true
		}
		if found == nil {
			found = a.dialect
		}
	}
	return found, found != nil
}

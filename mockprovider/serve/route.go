package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"herdlab/mockprovider/dialect"
)

// route finds the dialect of a request. Paths are as the providers have them.
// Where several have the same, and for whoever wants to be sure, the name of the
// dialect may stand before it, as in /openai/v1/chat/completions; it is taken
// off then. The dialects of the configuration go before those that there are.
// known is false if nobody has such a path.
func (s *Server) route(in *dialect.RawRequest) (which int, known bool) {
	for i := range s.cfg.Dialects {
		if s.cfg.Dialects[i].Answers(in.Path) {
			return len(s.dialects) - len(s.cfg.Dialects) + i, true
		}
	}
	if d, ok := dialect.ByPath(in); ok {
		return s.index(d.Name), true
	}
	name, rest, ok := strings.Cut(strings.TrimPrefix(in.Path, "/"), "/")
	if which = s.index(name); ok && which >= 0 {
		in.Path = "/" + rest
		return which, true
	}
	return 0, false
}

// index is the index of the dialect of that name, -1 if there is none.
func (s *Server) index(name string) int {
	for i := range s.dialects {
		if s.dialects[i].Name == name {
			return i
		}
	}
	return -1
}

// lost reports whether a request failed because there is no such path.
func isNotFound(err error) bool {
	if err == nil {
		return false
	}
	var e *dialect.RequestError
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// signpost names the paths that there are to who has lost the way.
func (s *Server) notFound(method, path, host string) error {
	const most = 100
	if len(path) > most {
		path = path[:most] + "…"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "There is nothing at %s %s. Base URLs of this server:", method, path)
	for i := range s.dialects {
		fmt.Fprintf(&b, " http://%s/%s", host, s.dialects[i].Name)
	}
	b.WriteString(". Routes:")
	for i := range s.dialects {
		for _, r := range s.dialects[i].Routes() {
			b.WriteString(" " + r + ",")
		}
	}
	return &dialect.RequestError{Status: http.StatusNotFound, Message: strings.TrimSuffix(b.String(), ",") + "."}
}

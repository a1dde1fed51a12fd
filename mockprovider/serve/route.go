package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"herdlab/mockprovider/dialect"
)

// route returns the index of the dialect of a request. Paths are those of the real
// providers. If several dialects have the same path, its name can be put before it,
// as in /openai/v1/chat/completions; route removes the name. Dialects of the
// configuration take precedence. known is false if no dialect has the path.
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

// index returns the index of the dialect of that name, -1 if there is none.
func (s *Server) index(name string) int {
	for i := range s.dialects {
		if s.dialects[i].Name == name {
			return i
		}
	}
	return -1
}

// isNotFound reports whether err is due to an unknown path.
func isNotFound(err error) bool {
	if err == nil {
		return false
	}
	var e *dialect.RequestError
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// notFound returns an error that lists the routes.
func (s *Server) notFound(method, path, host string) error {
	const most = 100
	if len(path) > most {
		path = path[:most] + "…"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "No route for %s %s. Base URLs of this server:", method, path)
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

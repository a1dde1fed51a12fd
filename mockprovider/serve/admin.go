package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herdlab/mockprovider/wire"
)

//go:embed page.html
var page []byte

// NewToken returns a random token for the admin API.
func NewToken() string { return rand.Text() }

// maxAdmin bounds the body of a request to the admin API, in bytes.
const maxAdmin = 64 << 10

// Admin returns the admin API, the live page and the metrics. All but the page
// require the token. It panics if the token is empty.
func (s *Server) Admin(token string) http.Handler {
	if token == "" {
		panic("serve: the admin API needs a token; NewToken makes one")
	}
	mux := http.NewServeMux()
	open := func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(page)
	}
	guarded := http.NewServeMux()
	guarded.Handle("GET /metrics", s.metrics.handler())
	for pattern, f := range map[string]adminFunc{
		"GET /state":          func(*http.Request, []byte) (any, error) { return s.State(), nil },
		"GET /counters":       func(*http.Request, []byte) (any, error) { return s.State().Counters, nil },
		"GET /series":         func(*http.Request, []byte) (any, error) { return s.Series(), nil },
		"GET /decisions":      s.adminDecisions,
		"GET /faults":         func(*http.Request, []byte) (any, error) { return s.State().Faults, nil },
		"POST /faults":        s.adminInject,
		"DELETE /faults":      func(*http.Request, []byte) (any, error) { s.ClearAll(); return okResult, nil },
		"DELETE /faults/{id}": s.adminClear,
		"POST /limits":        s.adminLimits,
		"POST /reset":         func(*http.Request, []byte) (any, error) { return okResult, s.Reset() },
	} {
		guarded.Handle(pattern, f)
	}
	guarded.Handle("/", adminFunc(func(r *http.Request, _ []byte) (any, error) {
		return nil, &adminError{http.StatusNotFound, fmt.Sprintf("no route for %s %s; there are GET /state, /counters, /series, /decisions, /faults and /metrics, POST /faults, /limits and /reset, DELETE /faults and /faults/ID", r.Method, r.URL.Path)}
	}))
	mux.HandleFunc("GET /{$}", open)
	mux.Handle("/", authorized(token, guarded))
	return mux
}

// okResult is the answer to a request without a result.
var okResult = map[string]bool{"ok": true}

// authorized passes requests with the token to h. It compares hashes, so that the
// duration depends neither on the token nor on its length.
func authorized(token string, h http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(bearer))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="herdlab admin"`)
			answerJSON(w, http.StatusUnauthorized, map[string]string{"error": "the admin token is missing or wrong; send Authorization: Bearer TOKEN"})
			return
		}
		h.ServeHTTP(w, r)
	})
}

// adminFunc answers a request to the admin API with a value as JSON, or an error.
type adminFunc func(r *http.Request, body []byte) (any, error)

// adminError is an error with an HTTP status; for other errors it is 400.
type adminError struct {
	status int
	text   string
}

func (e *adminError) Error() string { return e.text }

// ServeHTTP implements http.Handler.
func (f adminFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAdmin))
	var tooLarge *http.MaxBytesError
	var value any
	switch {
	case errors.As(err, &tooLarge):
		err = &adminError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxAdmin)}
	case err == nil:
		value, err = f(r, body)
	}
	if err != nil {
		status := http.StatusBadRequest
		if e := (*adminError)(nil); errors.As(err, &e) {
			status = e.status
		}
		answerJSON(w, status, map[string]string{"error": err.Error()})
		return
	}
	answerJSON(w, http.StatusOK, value)
}

func answerJSON(w http.ResponseWriter, status int, value any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the result cannot be encoded as JSON"}`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// adminDecisions handles GET /decisions?n=50&refused=1&tenant=…&class=…&id=….
func (s *Server) adminDecisions(r *http.Request, _ []byte) (any, error) {
	q, n := r.URL.Query(), 50
	if err := checkParameters(q, "n", "refused", "tenant", "class", "id"); err != nil {
		return nil, err
	}
	if text := q.Get("n"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 0 || n > maxDecisions {
			return nil, fmt.Errorf("n is %q; it must be a number of decisions from 0 to %d", text, maxDecisions)
		}
	}
	if text := q.Get("class"); text != "" && !slices.Contains(classNames(), text) {
		return nil, fmt.Errorf("unknown class %q; there are %s", text, strings.Join(classNames(), ", "))
	}
	refused, tenant, class, id := q.Get("refused") == "1", q.Get("tenant"), q.Get("class"), q.Get("id")
	list := s.decisions(n, func(d *decision) bool {
		return (!refused || d.class != wire.OK) && (tenant == "" || d.from.tenant == tenant) &&
			(class == "" || d.class.String() == class) && (id == "" || d.from.id == id)
	})
	return map[string]any{"decisions": list}, nil
}

// checkParameters reports an error if a query has a parameter that is not known.
func checkParameters(q url.Values, known ...string) error {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown parameter %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

func classNames() (names []string) {
	for c := range wire.Class(wire.NumClasses) {
		names = append(names, c.String())
	}
	return names
}

// errNoParser is the error of a server without Config.Parser.
var errNoParser = &adminError{http.StatusNotImplemented, "this server has no parser of scenario files (Config.Parser); change it from Go"}

func (s *Server) adminInject(r *http.Request, body []byte) (any, error) {
	if s.cfg.Parser == nil {
		return nil, errNoParser
	}
	q := r.URL.Query()
	if err := checkParameters(q, "check"); err != nil {
		return nil, err
	}
	f, err := s.cfg.Parser.Fault(body)
	if err != nil {
		return nil, err
	}
	if q.Get("check") == "1" {
		return okResult, s.check(f)
	}
	id, err := s.inject(f, compact(body))
	return map[string]int{"id": id}, err
}

// compact returns text on one line.
func compact(text []byte) string {
	return strings.Join(strings.Fields(string(text)), " ")
}

func (s *Server) adminClear(r *http.Request, _ []byte) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !s.Clear(id) {
		return nil, &adminError{http.StatusNotFound, fmt.Sprintf("unknown fault %q; GET /faults lists them", r.PathValue("id"))}
	}
	return okResult, nil
}

func (s *Server) adminLimits(_ *http.Request, body []byte) (any, error) {
	if s.cfg.Parser == nil {
		return nil, errNoParser
	}
	limits, err := s.cfg.Parser.Limits(body)
	if err != nil {
		return nil, err
	}
	return okResult, s.SetLimits(limits)
}

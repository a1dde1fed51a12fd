package live

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// pick returns list[i], or "" for index 0, which is the request's own.
func pick(what string, list []string, i uint8) (string, error) {
	switch {
	case i == 0:
		return "", nil
	case int(i) >= len(list):
		return "", fmt.Errorf("live: the strategy selects %s %d, but the Config lists only %d; list all of them", what, i, len(list))
	}
	return list[i], nil
}

// setTarget changes the URL and the key of a request to those of the target.
func (a *attempt) setTarget(req *http.Request) error {
	cfg := &a.t.cfg
	key, err := pick("key", cfg.Keys, a.target.Key)
	if err != nil {
		return err
	}
	if key != "" {
		swapKey(req, key)
	}
	switch i := int(a.target.Region); {
	case i == 0:
	case i >= len(cfg.Regions):
		return fmt.Errorf("live: the strategy selects region %d, but the Config lists only %d; list all of them", i, len(cfg.Regions))
	default:
		to := cfg.Regions[i]
		req.URL.Scheme, req.URL.Host, req.Host = to.Scheme, to.Host, ""
		setPath(req.URL, strings.TrimSuffix(to.EscapedPath(), "/")+req.URL.EscapedPath())
	}
	return nil
}

// keyHeaders are the headers that contain API keys.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// swapKey replaces the API key of a request, in a header or in the query.
func swapKey(req *http.Request, key string) {
	for _, h := range keyHeaders {
		old := req.Header.Get(h)
		if old == "" {
			continue
		}
		if scheme, _, ok := strings.Cut(old, " "); ok {
			key = scheme + " " + key
		}
		req.Header.Set(h, key)
		return
	}
	if q := req.URL.Query(); q.Get("key") != "" {
		q.Set("key", key)
		req.URL.RawQuery = q.Encode()
	}
}

// swapModel replaces the model in a path that contains it.
func swapModel(u *url.URL, from, to string) {
	if from == "" {
		return
	}
	path := u.EscapedPath()
	for _, written := range []string{url.PathEscape(from), from} {
		for _, after := range []string{":", "/"} {
			if before, rest, ok := strings.Cut(path, "/"+written+after); ok {
				setPath(u, before+"/"+url.PathEscape(to)+after+rest)
				return
			}
		}
	}
}

// setPath sets an escaped path.
func setPath(u *url.URL, escaped string) {
	if plain, err := url.PathUnescape(escaped); err == nil {
		u.Path, u.RawPath = plain, escaped
	}
}

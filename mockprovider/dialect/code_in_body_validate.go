package dialect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"herdlab/mockprovider/wire"
)

var (
	codeName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)
	codePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~:@-]*)+$`)
)

// The longest field names, titles, and paths or texts, in bytes.
const (
	maxFieldName = 64
	maxTitle     = 100
	maxText      = 400
)

// CodeInBodyError reports an invalid field of a CodeInBody. If Field is
// Replies, Class is the class of the invalid reply.
type CodeInBodyError struct {
	Field string
	Class wire.Class
	Err   error
}

// Error implements error.
func (e *CodeInBodyError) Error() string {
	if e.Field == "Replies" {
		return fmt.Sprintf("%s: %v", e.Class, e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns the reason.
func (e *CodeInBodyError) Unwrap() error { return e.Err }

// Validate returns a *CodeInBodyError if a field is invalid. The error
// describes the correction.
func (f CodeInBody) Validate() error {
	wrong := func(field, format string, args ...any) error {
		return &CodeInBodyError{Field: field, Err: fmt.Errorf(format, args...)}
	}
	if _, taken := ByName(f.Name); taken {
		return wrong("Name", "%s is the name of a built-in dialect; use another name", f.Name)
	}
	given := f.Replies
	f = f.withDefaults()
	switch {
	case !codeName.MatchString(f.Name):
		return wrong("Name", "%.80q is not a valid name of a dialect; use lower-case letters, digits, dots and hyphens, such as our-gateway", f.Name)
	case len(f.Title) > maxTitle || strings.ContainsFunc(f.Title, unicode.IsControl):
		return wrong("Title", "the title must be one line of at most %d bytes", maxTitle)
	case !codePath.MatchString(f.Path) || len(f.Path) > maxText:
		return wrong("Path", "%.80q is not a valid path; write one such as /llm/v1/chat, with letters, digits and . _ ~ : @ -", f.Path)
	case f.Path == f.modelsPath():
		return wrong("Path", "the path %s is that of the list of models; use another last part", f.Path)
	case f.Success == wire.Code14003:
		return wrong("Success", "the code %d means too many requests in every scenario; use another code for success", f.Success)
	case f.Limit == "" && f.Remaining != "":
		return wrong("Remaining", "remaining needs limit: name the field of the limit too")
	case f.Limit != "" && f.Remaining == "":
		return wrong("Limit", "limit needs remaining: name the field of the remaining part too")
	case f.Spelled >= wire.NumSpellings:
		return wrong("Spelled", "unknown spelling %d", f.Spelled)
	case f.RetryAfter != "" && !f.hintInField():
		return wrong("RetryAfter", "hints with this spelling are not in a field; remove %.80q, or use the spelling body_seconds", f.RetryAfter)
	}
	if err := f.validateFields(); err != nil {
		return err
	}
	for class := range f.Replies {
		c := wire.Class(class)
		if none := c == wire.OK || c > wire.Timeout; none && given[class] != (CodeReply{}) {
			return &CodeInBodyError{"Replies", c, errors.New("no provider replies with this class; remove it")}
		} else if none {
			continue
		}
		if err := f.validateReply(c); err != nil {
			return &CodeInBodyError{"Replies", c, err}
		}
	}
	return nil
}

// validateFields returns an error if the name of a field is invalid.
func (f *CodeInBody) validateFields() error {
	v := newCodeInBodyCodec(f)
	seen := map[string]bool{}
	for _, x := range []struct{ field, name string }{
		{"RetryAfter", v.seconds}, {"RetryAfter", v.millis}, {"RetryAfter", v.delay},
		{"Code", v.code}, {"Message", v.message}, {"Data", v.data}, {"Limit", v.limit}, {"Remaining", v.remaining},
	} {
		var err error
		switch {
		case x.name == "":
		case seen[x.name]:
			err = fmt.Errorf("another field has the name %q, or hints with another spelling use it (retry_after, retry_after_ms, retryDelay); use another name", x.name)
		case len(x.name) > maxFieldName || strings.ContainsFunc(x.name, unicode.IsControl) || !utf8.ValidString(x.name):
			err = fmt.Errorf("%.80q is not a valid name of a field; use at most %d bytes without control characters", x.name, maxFieldName)
		}
		if err != nil {
			return &CodeInBodyError{Field: x.field, Err: err}
		}
		seen[x.name] = true
	}
	return nil
}

// validateReply returns an error if the reply of a class is invalid.
func (f *CodeInBody) validateReply(class wire.Class) error {
	r := &f.Replies[class]
	as := f.firstWithCode(class)
	switch {
	case r.Code == f.Success:
		return fmt.Errorf("the code %d is that of success; use another code", r.Code)
	case r.Status != 200 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("the status %d is neither 200 nor that of an error, 400 to 599", r.Status)
	case as != wire.OK && f.Replies[as].Status != r.Status:
		return fmt.Errorf("the code %d with the status %d is that of %s with the status %d; use another code", r.Code, r.Status, as, f.Replies[as].Status)
	case r.Code == wire.Code14003 && class != wire.Rate && as != wire.Rate:
		return fmt.Errorf("the code %d means too many requests in every scenario; use another code, or use it for rate too", r.Code)
	case r.Spelled >= wire.NumSpellings:
		return fmt.Errorf("unknown spelling %d", r.Spelled)
	case len(r.Text) > maxText || strings.ContainsFunc(r.Text, unicode.IsControl) || !utf8.ValidString(r.Text):
		return fmt.Errorf("the text must be one line of at most %d bytes", maxText)
	}
	form := template{Text: r.Text}
	text := form.fill(nil, &wire.Reply{Limit: 1})
	if wire.WordsOf(text) != wire.WordsOf(form.fill(nil, &wire.Reply{})) {
		return errors.New("the brackets contain keywords for keyword readers, but are left out if no limit is known; move the keywords before the brackets")
	}
	if _, hasWait := parseSentence(text); hasWait {
		return errors.New("the text contains a wait, but waits vary; remove it, and use the spelling sentence for hints")
	}
	return nil
}

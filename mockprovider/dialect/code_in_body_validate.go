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

// The most bytes that names of fields, titles, and paths and texts may have.
const (
	maxFieldName = 64
	maxTitle     = 100
	maxText      = 400
)

// CodeInBodyError says which field of a CodeInBody is wrong; where that is
// Replies, which class of it.
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

// Unwrap returns what is wrong with the field.
func (e *CodeInBodyError) Unwrap() error { return e.Err }

// Validate says what is wrong, as a *CodeInBodyError, and what to do.
func (f CodeInBody) Validate() error {
	wrong := func(field, format string, args ...any) error {
		return &CodeInBodyError{Field: field, Err: fmt.Errorf(format, args...)}
	}
	if _, taken := ByName(f.Name); taken {
		return wrong("Name", "%s is a dialect already; give this one a name of its own", f.Name)
	}
	said := f.Replies
	f = f.withDefaults()
	switch {
	case !codeName.MatchString(f.Name):
		return wrong("Name", "%.80q is no name of a dialect; use lower-case letters, digits, dots and hyphens, such as our-gateway", f.Name)
	case len(f.Title) > maxTitle || strings.ContainsFunc(f.Title, unicode.IsControl):
		return wrong("Title", "the title is one line of at most %d bytes", maxTitle)
	case !codePath.MatchString(f.Path) || len(f.Path) > maxText:
		return wrong("Path", "%.80q is no path; write one such as /llm/v1/chat, of letters, digits and . _ ~ : @ -", f.Path)
	case f.Path == f.modelsPath():
		return wrong("Path", "the path %s is that of the list of models; let it end in another word", f.Path)
	case f.Success == wire.Code14003:
		return wrong("Success", "the code %d says too many requests wherever a scenario writes it; success has another", f.Success)
	case f.Limit == "" && f.Remaining != "":
		return wrong("Remaining", "what remains is told beside the limit; name the field of that too")
	case f.Limit != "" && f.Remaining == "":
		return wrong("Limit", "a limit is told beside what remains of it; name the field of that too")
	case f.Spelled >= wire.NumSpellings:
		return wrong("Spelled", "there is no spelling %d", f.Spelled)
	case f.RetryAfter != "" && !f.hintInField():
		return wrong("RetryAfter", "waits that are spelled so are in no field; leave out %.80q, or spell them as body_seconds", f.RetryAfter)
	}
	if err := f.validateFields(); err != nil {
		return err
	}
	for class := range f.Replies {
		c := wire.Class(class)
		if none := c == wire.OK || c > wire.Timeout; none && said[class] != (CodeReply{}) {
			return &CodeInBodyError{"Replies", c, errors.New("no provider refuses so; leave it out")}
		} else if none {
			continue
		}
		if err := f.validateReply(c); err != nil {
			return &CodeInBodyError{"Replies", c, err}
		}
	}
	return nil
}

// validateFields says what is wrong with the names of fields.
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
			err = fmt.Errorf("another field has the name %q already, or waits have it that are spelled otherwise: retry_after, retry_after_ms or retryDelay; give this one its own", x.name)
		case len(x.name) > maxFieldName || strings.ContainsFunc(x.name, unicode.IsControl) || !utf8.ValidString(x.name):
			err = fmt.Errorf("%.80q is no name of a field; write at most %d plain characters", x.name, maxFieldName)
		}
		if err != nil {
			return &CodeInBodyError{Field: x.field, Err: err}
		}
		seen[x.name] = true
	}
	return nil
}

// validateReply says what is wrong with the reply of a class.
func (f *CodeInBody) validateReply(class wire.Class) error {
	r := &f.Replies[class]
	as := f.firstWithCode(class)
	switch {
	case r.Code == f.Success:
		return fmt.Errorf("the code %d is that of success; give it another", r.Code)
	case r.Status != 200 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("the status %d is neither 200 nor an error's, 400 to 599", r.Status)
	case as != wire.OK && f.Replies[as].Status != r.Status:
		return fmt.Errorf("the code %d under the status %d is that of %s under %d; give it another code", r.Code, r.Status, as, f.Replies[as].Status)
	case r.Code == wire.Code14003 && class != wire.Rate && as != wire.Rate:
		return fmt.Errorf("the code %d says too many requests wherever a scenario writes it; give it another, or give it to rate too", r.Code)
	case r.Spelled >= wire.NumSpellings:
		return fmt.Errorf("there is no spelling %d", r.Spelled)
	case len(r.Text) > maxText || strings.ContainsFunc(r.Text, unicode.IsControl) || !utf8.ValidString(r.Text):
		return fmt.Errorf("the text is not one line of at most %d bytes", maxText)
	}
	put := template{Text: r.Text}
	text := put.fill(nil, &wire.Reply{Limit: 1})
	if wire.WordsOf(text) != wire.WordsOf(put.fill(nil, &wire.Reply{})) {
		return errors.New("the brackets have words that keyword readers go by, and are left out where no limit is known; put those words before them")
	}
	if _, waits := parseSentence(text); waits {
		return errors.New("the text says how long to wait, whatever the wait is; leave that out, and spell waits as a sentence")
	}
	return nil
}

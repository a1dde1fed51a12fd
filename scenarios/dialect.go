package scenarios

import (
	"errors"
	"math"
	"reflect"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// ownDialect is the word for a dialect that the file defines.
const ownDialect = "code_in_body"

// providerDialect reads the dialect of the provider's replies: the name of a
// built-in dialect, or the definition of one with error codes in the body.
func (d *decoder) providerDialect(n *yaml.Node, c *mockprovider.Config) {
	name, at, body := d.variant(n, "dialect", append(d.format.dialectNames(), ownDialect)...)
	switch {
	case name == "":
		return
	case name == ownDialect:
		if d.dialect = d.codeInBody(at, body); d.dialect == nil {
			return
		}
	default:
		known, _ := d.format.dialect(name)
		d.section(at, body, name, nil)
		d.dialect = &known
	}
	c.Forms = d.dialect.Forms()
}

// codeInBody reads a dialect that the file defines, nil if it is invalid.
func (d *decoder) codeInBody(at, n *yaml.Node) *dialect.Dialect {
	before := d.count()
	var f dialect.CodeInBody
	s := d.bind(at, n, ownDialect, reflect.ValueOf(&f).Elem())
	if d.count() > before {
		return nil
	}
	if err := f.Validate(); err != nil {
		var wrong *dialect.CodeInBodyError
		if errors.As(err, &wrong) {
			if field := s.get(snake(wrong.Field)); field != nil {
				at = field
			}
			if reply := child(at, wrong.Class.String()); reply != nil {
				at = reply
			}
		}
		d.complain(at, "%v", err)
		return nil
	}
	own := f.Dialect()
	return &own
}

// codeReplies are the replies of a dialect by class.
type codeReplies = [wire.NumClasses]dialect.CodeReply

// codeReplies reads them: for each class its code, or all that there is to say.
func (d *decoder) codeReplies(n *yaml.Node) (all codeReplies) {
	s := d.mapping(n, n, "replies", namesOf(wire.OK))
	for class, name := range namesOf(wire.OK) {
		at, r := s.get(name), &all[class]
		if at == nil {
			continue
		}
		if at.Kind == yaml.MappingNode {
			reply := d.section(at, at, "the reply", form[dialect.CodeReply]())
			at = reply.get("code")
			r.Status = uint16(d.integer(reply.get("status"), 200, 599))
			r.Text, _ = d.scalar(reply.get("text"), "a text")
			r.Spelled = wire.Spelling(d.enumerated(reply.get("spelled"), "spelling", wire.ExactSeconds))
		}
		before := d.count()
		if r.Code = int32(d.integer(at, math.MinInt32, math.MaxInt32)); r.Code == 0 && at != nil && d.count() == before {
			d.complain(at, "the code 0 means no code; remove it for the default code")
		}
	}
	return all
}

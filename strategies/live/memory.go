package live

import (
	"container/list"
	"net/http"
)

// answers are those that strategies may give again, by what was asked. Guarded
// by Everyone.mu.
type answers struct {
	by    map[identity]*list.Element
	ages  *list.List // of *answer, oldest first
	bytes int64
}

// answer is one of them.
type answer struct {
	asks  identity
	reply reply
	bytes int64
}

func newAnswers() answers { return answers{by: map[identity]*list.Element{}, ages: list.New()} }

// keep remembers an answer, and forgets old ones until all are at most so many
// bytes together.
func (m *answers) keep(asks *identity, r reply, most int64) {
	a := &answer{*asks, r, r.size()}
	if a.bytes > most {
		return
	}
	if old := m.by[*asks]; old != nil {
		m.forget(old)
	}
	for m.bytes+a.bytes > most {
		m.forget(m.ages.Front())
	}
	m.by[*asks] = m.ages.PushBack(a)
	m.bytes += a.bytes
}

func (m *answers) forget(e *list.Element) {
	a := m.ages.Remove(e).(*answer)
	delete(m.by, a.asks)
	m.bytes -= a.bytes
}

// keep remembers the answer to a prompt that is not like no other, if all of it
// is there.
func (t *Transport) keep(asks *identity, prompt uint32, r *reply) {
	if prompt == 0 || !r.whole() || r.err != nil {
		return
	}
	copied := r.copied()
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	t.everyone.answers.keep(asks, copied, t.cfg.MaxMemory)
}

// recall returns the answer to what is asked, if it is still known.
func (t *Transport) recall(asks *identity) (reply, bool) {
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	e := t.everyone.answers.by[*asks]
	if e == nil {
		return reply{}, false
	}
	return e.Value.(*answer).reply.copied(), true
}

// size is about how many bytes a reply takes.
func (r *reply) size() int64 {
	const apart = 512 // of what it is made of
	n := int64(len(r.buf)) + apart
	for _, h := range []http.Header{r.resp.Header, r.resp.Trailer} {
		for name, values := range h {
			n += int64(len(name)) + apart/8
			for _, v := range values {
				n += int64(len(v))
			}
		}
	}
	return n
}

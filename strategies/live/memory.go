package live

// memory is the answers that a strategy may give again, by prompt. It is guarded
// by Everyone.mu.
type memory struct {
	answers map[uint32]reply
	order   []uint32 // oldest first
}

// maxAnswers bounds how many answers are kept.
const maxAnswers = 1024

// keep remembers an answer.
func (m *memory) keep(prompt uint32, r reply) {
	if m.answers == nil {
		m.answers = map[uint32]reply{}
	}
	if _, known := m.answers[prompt]; !known {
		if len(m.order) == maxAnswers {
			delete(m.answers, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, prompt)
	}
	m.answers[prompt] = r
}

// keep remembers an answer if all of it is there.
func (t *Transport) keep(prompt uint32, r *reply) {
	if prompt == 0 || !r.whole() {
		return
	}
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	t.memory.keep(prompt, r.copied())
}

// recall returns the answer to a prompt, if it is still known.
func (t *Transport) recall(prompt uint32) (reply, bool) {
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	return t.memory.recall(prompt)
}

// recall returns the answer to a prompt, if it is still known.
func (m *memory) recall(prompt uint32) (reply, bool) {
	r, ok := m.answers[prompt]
	return r.copied(), ok
}

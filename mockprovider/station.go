package mockprovider

// station is where work is done: slots, and a queue before them. It knows jobs
// by their numbers only.
type station struct {
	slots  int // 0 for no bound
	places int // in the queue
	busy   int
	queue  ring
}

// hasSlot and hasPlace report whether there is room in the slots and in the
// queue. Nobody is in the queue while a slot is free.
func (s *station) hasSlot() bool  { return s.slots == 0 || s.busy < s.slots }
func (s *station) hasPlace() bool { return s.queue.len() < s.places }

// enter takes a slot, which must be there.
func (s *station) enter() { s.busy++ }

// leave gives a slot back. If somebody waits for it, the job that has waited
// longest is taken from the queue, to enter next.
func (s *station) leave() (next uint32, waits bool) {
	s.busy--
	if s.queue.len() == 0 {
		return 0, false
	}
	return s.queue.pop(), true
}

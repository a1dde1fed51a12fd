package mockprovider

// ranking is jobs by ascending key, and among equals in the order in which they
// came: a binary heap whose jobs know where they stand, so that any of them can
// leave.
type ranking struct {
	heap []ranked
	came uint64
}

type ranked struct {
	key, came uint64
	job       uint32
}

func (r ranked) before(o ranked) bool { return r.key < o.key || r.key == o.key && r.came < o.came }

func (h *ranking) push(places []place, job uint32, key uint64) {
	h.came++
	h.heap = append(h.heap, ranked{})
	h.up(places, uint32(len(h.heap)-1), ranked{key, h.came, job})
}

// remove takes the job at i out.
func (h *ranking) remove(places []place, i uint32) {
	last := h.heap[len(h.heap)-1]
	h.heap = h.heap[:len(h.heap)-1]
	if int(i) == len(h.heap) {
		return
	}
	if i > 0 && last.before(h.heap[(i-1)/2]) {
		h.up(places, i, last)
	} else {
		h.down(places, i, last)
	}
}

// up and down find a place for r, from the hole at i upwards or downwards.
func (h *ranking) up(places []place, i uint32, r ranked) {
	for i > 0 && r.before(h.heap[(i-1)/2]) {
		h.put(places, i, h.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	h.put(places, i, r)
}

func (h *ranking) down(places []place, i uint32, r ranked) {
	for n := uint32(len(h.heap)); 2*i+1 < n; {
		child := 2*i + 1
		if child+1 < n && h.heap[child+1].before(h.heap[child]) {
			child++
		}
		if r.before(h.heap[child]) {
			break
		}
		h.put(places, i, h.heap[child])
		i = child
	}
	h.put(places, i, r)
}

func (h *ranking) put(places []place, i uint32, r ranked) {
	h.heap[i] = r
	places[r.job].rank = i
}

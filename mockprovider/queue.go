package mockprovider

// ring is a first-in-first-out queue of jobs.
type ring struct {
	buf  []uint32 // its length is a power of two
	head int
	n    int
}

func (q *ring) len() int { return q.n }

func (q *ring) push(job uint32) {
	if q.n == len(q.buf) {
		grown := make([]uint32, max(16, 2*len(q.buf)))
		for i := range q.n {
			grown[i] = q.buf[(q.head+i)&(len(q.buf)-1)]
		}
		q.buf, q.head = grown, 0
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = job
	q.n++
}

// pop takes the job that has waited longest; there must be one.
func (q *ring) pop() uint32 {
	job := q.buf[q.head]
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
	return job
}

package mockprovider

// ring is a first-in-first-out queue that does not allocate once it has had its
// largest size.
type ring[T any] struct {
	buf  []T // its length is a power of two
	head int
	n    int
}

func (q *ring[T]) len() int { return q.n }

func (q *ring[T]) push(x T) {
	if q.n == len(q.buf) {
		grown := make([]T, max(16, 2*len(q.buf)))
		for i := range q.n {
			grown[i] = q.buf[(q.head+i)&(len(q.buf)-1)]
		}
		q.buf, q.head = grown, 0
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = x
	q.n++
}

// first returns the oldest element, which must be there.
func (q *ring[T]) first() *T { return &q.buf[q.head] }

// pop takes it out.
func (q *ring[T]) pop() {
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
}

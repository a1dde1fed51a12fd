package live

import (
	"container/list"
	"net/http"
)

// answerCache holds the answers that strategies with a cache may use again.
// When it is full, the oldest are evicted. It is guarded by Shared.mu.
type answerCache struct {
	entries map[requestHash]*list.Element
	byAge   *list.List // of *cacheEntry, oldest first
	bytes   int64
}

// cacheEntry is an answer and the request that it belongs to.
type cacheEntry struct {
	hash  requestHash
	reply reply
	bytes int64
}

func newAnswerCache() answerCache {
	return answerCache{entries: map[requestHash]*list.Element{}, byAge: list.New()}
}

// put adds an answer and evicts old ones until all together have at most limit
// bytes.
func (c *answerCache) put(hash *requestHash, r reply, limit int64) {
	a := &cacheEntry{*hash, r, r.size()}
	if a.bytes > limit {
		return
	}
	if old := c.entries[*hash]; old != nil {
		c.remove(old)
	}
	for c.bytes+a.bytes > limit {
		c.remove(c.byAge.Front())
	}
	c.entries[*hash] = c.byAge.PushBack(a)
	c.bytes += a.bytes
}

func (c *answerCache) remove(e *list.Element) {
	a := c.byAge.Remove(e).(*cacheEntry)
	delete(c.entries, a.hash)
	c.bytes -= a.bytes
}

// cacheAnswer adds an answer to the cache if it is completely read and its
// request can be asked again (prompt is not 0).
func (t *Transport) cacheAnswer(hash *requestHash, prompt uint32, r *reply) {
	if prompt == 0 || !r.complete() || r.err != nil {
		return
	}
	copied := r.clone()
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	t.shared.cache.put(hash, copied, t.cfg.MaxCache)
}

// cachedAnswer returns the answer to an equal request, if it is in the cache.
func (t *Transport) cachedAnswer(hash *requestHash) (reply, bool) {
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	e := t.shared.cache.entries[*hash]
	if e == nil {
		return reply{}, false
	}
	return e.Value.(*cacheEntry).reply.clone(), true
}

// size estimates the memory of a reply in bytes.
func (r *reply) size() int64 {
	const overhead = 512 // of structs and maps
	n := int64(len(r.buf)) + overhead
	for _, h := range []http.Header{r.resp.Header, r.resp.Trailer} {
		for name, values := range h {
			n += int64(len(name)) + overhead/8
			for _, v := range values {
				n += int64(len(v))
			}
		}
	}
	return n
}

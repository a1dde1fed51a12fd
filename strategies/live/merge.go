package live

import (
	"errors"

	"herdlab/mockprovider/wire"
)

// batch is the calls that a leading call of a merging strategy sends as one.
type batch struct {
	body   []byte // nil if the call is alone
	calls  int
	demand wire.Demand
	err    error // of JoinRequests
}

// makeBatch sets c.batch. The batch is the same for all attempts of c until it
// joins another flight.
func (c *callRun) makeBatch() {
	b := &batch{demand: c.call.Demand}
	c.batch = b
	bodies := c.collectBatch()
	if b.calls = len(bodies); b.calls < 2 {
		return
	}
	if b.body, b.err = c.t.cfg.JoinRequests(c.req, bodies); b.err == nil && len(b.body) == 0 {
		b.err = errors.New("live: Config.JoinRequests returned an empty body")
	}
}

// collectBatch returns the bodies of the calls in the batch, that of c first. A
// follower with another joinKey, or without a body that can be joined, leaves the
// flight and sends its own request.
func (c *callRun) collectBatch() [][]byte {
	s := c.t.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	f := c.flight
	if f == nil || f.leader != c {
		return nil
	}
	bodies := [][]byte{c.joinBody}
	for at := f.followers.Front(); at != nil; {
		follower := at.Value.(*callRun)
		at = at.Next()
		if len(c.joinBody) > 0 && len(follower.joinBody) > 0 && follower.joinKey == c.joinKey {
			follower.batchIndex = len(bodies)
			bodies = append(bodies, follower.joinBody)
			continue
		}
		follower.proceedAlone()
	}
	return bodies
}

// batchReply is a reply to a batch, with one answer for each call; parts is nil if
// the reply is a failure, which all calls of the batch get.
type batchReply struct {
	batch *batch
	parts [][]byte
}

// replyFor returns the reply of c for one of its followers; sent is false if the
// batch does not contain the follower. The reply is empty if c has received none
// since it leads the batch.
func (c *callRun) replyFor(follower *callRun) (r reply, sent bool) {
	last := &c.last
	switch {
	case !c.t.merges:
		return last.clone(), true
	case c.batch == nil:
		return reply{}, true
	case follower.batchIndex == 0:
		return reply{}, false
	case last.batch == nil || last.batch.batch != c.batch:
		return reply{}, true
	case last.batch.parts == nil:
		return last.clone(), true
	}
	return last.withBody(last.batch.parts[follower.batchIndex]), true
}

package sim

import (
	"herdlab/sim/metrics"
	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// decide has the strategy of row i decide on an event, and carries the decision
// out.
func (r *run) decide(i uint32, e strategies.Event) {
	for {
		c := &r.calls[i]
		f := r.fleetAt[c.fleet]
		if r.now != r.stepAt {
			r.stepAt, r.steps, r.idled = r.now, 0, 0
		}
		if r.steps++; r.steps > r.maxSteps {
			r.stuck(i, c, f)
			return
		}
		v := &r.view
		if r.viewFleet != f {
			r.viewFleet = f
			v.Driver().Rand, v.Demand = f.rand, f.size
			v.Driver().Memory = [strategies.NumScopes][]int64{f.callSlab, f.clientSlab, f.perFleet, r.everyone}
		}
		client, id := f.identify(i, c.seq)
		v.ID, v.Row, v.Client, v.Attempts, v.InFlight = id, i, client, c.attempts, uint32(c.inFlight)
		v.Born, v.Target, v.Driver().Phase, v.Driver().Turn = c.born, c.target, uint32(c.phase), uint32(c.turn)
		if !f.uniform {
			v.Demand = r.demands[i]
		}
		v.Driver().From[strategies.PerCall] = (i - f.base) * f.callStride
		v.Driver().From[strategies.PerClient] = client*f.clientStride + f.clientOffset
		r.viewKind = e.Kind

		d := f.root.Next(r.now, v, e)

		c.phase, c.target = uint16(v.Driver().Phase), v.Target
		c.turn++
		if f.changes {
			r.demands[i] = v.Demand
		}
		if v.HasCommands() {
			r.viewRow = i
			v.TakeCommands(r)
		}
		if c.state&active == 0 {
			return // the call is over: its decision does not count
		}
		switch d.Kind {
		case strategies.Send:
			c.turn = 0
			r.send(i, c, f, d.After)
			if !f.Program.WantsSent || r.err != nil {
				return
			}
			e = strategies.Event{Kind: strategies.Sent, Attempt: r.calls[i].attempts}
			continue
		case strategies.Wait:
			at := saturating.Add(r.now, max(d.After, 0))
			if at == r.now {
				r.idled = c.phase
			}
			r.wakeAt(i, at)
		case strategies.Acquire:
			if !r.acquire(i, f, client, d.Take) {
				return
			}
			r.calls[i].turn--
			e = strategies.Event{Kind: strategies.Admitted}
			continue
		case strategies.Join:
			if !r.join(i, f, client, d.Take) {
				return
			}
			r.calls[i].turn--
			e = strategies.Event{Kind: strategies.Admitted}
			continue
		case strategies.Abandon:
			sent, ok := r.abandon(i, d.Take.N)
			if !ok {
				return
			}
			e = strategies.Event{Kind: strategies.Settled, Attempt: d.Take.N, Outcome: &cancelled, SentAt: sent}
			continue
		case strategies.Answer:
			r.settle(i, metrics.Settlement{
				Succeeded: true, Useful: true, FromMemory: true,
				Degraded: d.End.Degraded, Model: c.target.Model,
			})
		case strategies.Stop:
			r.settle(i, metrics.Settlement{
				Succeeded: d.End.Reason == strategies.Succeeded,
				Useful:    c.state&answered != 0,
				Cancelled: d.End.Reason == strategies.CallerCancelled,
				Degraded:  d.End.Degraded || c.state&lesser != 0,
				Shared:    c.state&shared != 0,
				Model:     c.target.Model,
			})
		case strategies.Idle:
			if c.inFlight == 0 && c.state&(waking|standing|following) == 0 {
				r.mistake(f, strategies.ErrNothingToDo)
			}
		default:
			r.mistake(f, strategies.ErrUnknownDecision(d))
		}
		return
	}
}

package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// visit is one request of the twin test.
type visit struct {
	at       time.Duration // whole milliseconds
	patience time.Duration // when its client hangs up; no other event has the same time
	dialect  int
	stream   bool
	account  uint32
	call     uint64
	attempt  uint32
	max      int
	output   uint32
}

// seen is what a client receives.
type seen struct {
	at     time.Duration // when it was received
	err    bool          // no reply, or a truncated one
	status int
	header http.Header // nil if there was no reply
	body   string
}

func (s seen) String() string {
	return fmt.Sprintf("%v err=%v %d %v\n%s", s.at, s.err, s.status, s.header, s.body)
}

// body returns path and body of the request in its dialect.
func (v *visit) body(d *dialect.Dialect) (path, body string) {
	for _, r := range d.Routes() {
		if p, post := strings.CutPrefix(r, "POST "); post {
			path = strings.Replace(p, "{model}", "m", 1)
			break
		}
	}
	switch d.Name {
	case "gemini":
		if v.stream {
			path = strings.Replace(path, "generate", "streamGenerate", 1)
		}
		return path, fmt.Sprintf(`{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":%d}}`, v.max)
	case "bedrock":
		if v.stream {
			path += "-stream"
		}
		return path, fmt.Sprintf(`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":%d}}`, v.max)
	case "dashscope-native":
		return path, fmt.Sprintf(`{"model":"m","input":{"messages":[{"role":"user","content":"hi"}]},"parameters":{"max_tokens":%d}}`, v.max)
	}
	return path, fmt.Sprintf(`{"model":"m","max_tokens":%d,"stream":%v,"messages":[{"role":"user","content":"hi"}]}`, v.max, v.stream)
}

func (v *visit) request(ctx context.Context, d *dialect.Dialect) *http.Request {
	path, body := v.body(d)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd/"+d.Name+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	key := fmt.Sprintf("key-%d", v.account)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("x-goog-api-key", key)
	r.Header.Set("api-key", key)
	r.Header.Set("x-api-key", key)
	r.Header.Set(CallHeader, strconv.FormatUint(v.call, 10))
	r.Header.Set(AttemptHeader, strconv.FormatUint(uint64(v.attempt), 10))
	r.Header.Set(OutputHeader, strconv.FormatUint(uint64(v.output), 10))
	return r
}

// inServer sends the visits to a server, in virtual time.
func inServer(t *testing.T, cfg Config, visits []visit) []seen {
	all := make([]seen, len(visits))
	synctest.Test(t, func(t *testing.T) {
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		client, start := s.Client(), time.Now()
		var clients sync.WaitGroup
		defer clients.Wait()
		for i := range visits {
			v := &visits[i]
			time.Sleep(v.at - time.Since(start))
			clients.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), v.patience-v.at)
				defer cancel()
				all[i] = s.see(client, v.request(ctx, &s.dialects[v.dialect]))
				all[i].at = time.Since(start)
			})
			synctest.Wait()
		}
	})
	return all
}

func (s *Server) see(c *http.Client, r *http.Request) (got seen) {
	resp, err := c.Do(r)
	if err != nil {
		return seen{err: true}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return seen{err: err != nil, status: resp.StatusCode, header: resp.Header, body: string(text)}
}

// byHand steps a provider and writes its replies with the dialects. It is the naive twin
// of driver, handler and transport: its event queue is a list that is sorted before each
// event.
func byHand(cfg Config, visits []visit, epoch int64) []seen {
	all := make([]seen, len(visits))
	dialects := dialect.All()
	cfg.Provider.Accounts = int(nextAccount(cfg.Keys))
	p, err := mockprovider.New(cfg.Provider, draw.New(cfg.Seed).For(1))
	if err != nil {
		panic(err)
	}
	for i := range dialects {
		p.SetForms(uint8(i+1), dialects[i].Forms())
	}
	type item struct {
		at   time.Duration
		kind int // 0 tick, 1 done, 2 arrive, 3 sent, 4 hang up
		n    int // order of insertion
		ref  int
		e    wire.Effect
	}
	var list []item
	n := 0
	add := func(at time.Duration, kind, ref int, e wire.Effect) {
		n++
		list = append(list, item{at, kind, n, ref, e})
	}
	for i := range visits {
		add(visits[i].at, 2, i, wire.Effect{})
		add(visits[i].patience, 4, i, wire.Effect{})
	}
	heads := make([]*wire.Reply, len(visits))
	headAt, headShows := make([]time.Duration, len(visits)), make([]time.Duration, len(visits))
	started := make([]wire.Effect, len(visits))
	until := make([]time.Duration, len(visits))
	over, gone := make([]bool, len(visits)), make([]bool, len(visits))
	parse := func(i int) dialect.Request {
		path, body := visits[i].body(&dialects[visits[i].dialect])
		r, err := dialects[visits[i].dialect].ParseRequest(&dialect.RawRequest{Method: "POST", Path: path, Body: []byte(body)})
		if err != nil {
			panic(err)
		}
		return r
	}
	context := func(i int, at time.Duration) *dialect.Context {
		r := parse(i)
		return &dialect.Context{
			Operation: r.Operation, Model: r.Model, Usage: r.Usage, InputTokens: r.InputTokens, MaxTokens: r.MaxTokens,
			ID: requestID(cfg.Seed, uint64(i+1)), Epoch: epoch, Now: at,
		}
	}
	// settle sets what the client of visit i receives, with the final reply or nil.
	settle := func(i int, at time.Duration, kind wire.EffectKind, reply *wire.Reply) {
		if over[i] || gone[i] {
			return
		}
		over[i] = true
		d := &dialects[visits[i].dialect]
		var m dialect.Message
		sent := 0
		begun := heads[i] != nil
		if begun { // what has been sent by now
			c := context(i, headShows[i])
			d.Head(&m, c, heads[i])
			m.Body = d.Begin(m.Body, c, heads[i])
			total := int(started[i].Reply.Tokens)
			leave := total - int(started[i].Withheld)
			for sent < leave && headAt[i]+(until[i]-headAt[i])*time.Duration(sent)/time.Duration(total) <= at {
				m.Body = d.Token(m.Body, c, heads[i], sent)
				sent++
			}
			if reply != nil {
				for ; sent < int(reply.Tokens); sent++ {
					m.Body = d.Token(m.Body, c, reply, sent)
				}
				m.Body = d.End(m.Body, c, reply, sent)
				m.Broken = reply.Body == wire.TruncatedBody
			} else {
				m.Broken = true
			}
		} else if reply != nil {
			c := context(i, p.Clock(at))
			if parse(i).Stream && d.Streams(reply) {
				d.WriteStream(&m, c, reply)
			} else {
				d.Write(&m, c, reply)
			}
		} else {
			all[i] = seen{at: at, err: true}
			return
		}
		got := seen{at: at, err: m.Broken, status: m.Status, header: http.Header{}, body: string(m.Body)}
		for _, h := range m.Headers {
			got.header.Set(h.Name, h.Value)
		}
		when := p.Clock(at)
		if begun {
			when = headShows[i]
		} else if !(parse(i).Stream && d.Streams(reply)) {
			got.header.Set("Content-Length", strconv.Itoa(m.Length))
		}
		got.header.Set("Date", time.Unix(epoch, 0).UTC().Add(when).Format(http.TimeFormat))
		if got.header.Get("X-Request-Id") == "" {
			got.header.Set("X-Request-Id", requestID(cfg.Seed, uint64(i+1)))
		}
		all[i] = got
	}
	jobOf := map[uint32]int{}
	ended := make([]bool, len(visits))
	step := func(now time.Duration, in wire.Input) {
		for _, e := range p.Step(now, &in, nil) {
			i := int(e.Ticket)
			switch e.Kind {
			case wire.Started:
				jobOf[e.Job] = i
				until[i], started[i] = now+e.After, e
				add(now+e.After, 1, int(e.Job), e)
			default:
				add(now+e.After, 3, i, e)
				if e.Kind != wire.Head {
					ended[i] = false
				}
			}
		}
	}
	asked := map[time.Duration]bool{} // for a tick
	for {
		if t := p.NextTick(); t < never && !asked[t] {
			asked[t] = true
			add(t, 0, 0, wire.Effect{})
		}
		if len(list) == 0 {
			return all
		}
		slices.SortStableFunc(list, func(a, b item) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			if a.kind != b.kind {
				return a.kind - b.kind
			}
			return a.n - b.n
		})
		x := list[0]
		list = list[1:]
		switch x.kind {
		case 0:
			step(x.at, wire.Input{Kind: wire.Tick})
		case 1:
			step(x.at, wire.Input{Kind: wire.Done, Job: uint32(x.ref)})
		case 2:
			v := &visits[x.ref]
			asked := parse(x.ref)
			r := wire.Request{
				Call: v.call, Attempt: v.attempt, Account: v.account, Stream: asked.Stream, Dialect: uint8(v.dialect + 1),
				Demand: wire.Demand{InputTokens: asked.InputTokens, OutputTokens: v.output, MaxTokens: asked.MaxTokens},
			}
			step(x.at, wire.Input{Kind: wire.Arrive, Ticket: uint32(x.ref), Request: r})
		case 3:
			switch x.e.Kind {
			case wire.Head:
				if !over[x.ref] {
					reply := x.e.Reply
					heads[x.ref], headAt[x.ref], headShows[x.ref] = &reply, x.at, p.Clock(x.at)
				}
			case wire.Replied:
				settle(x.ref, x.at, x.e.Kind, &x.e.Reply)
			case wire.LostConnection:
				settle(x.ref, x.at, x.e.Kind, nil)
			case wire.Dropped: // its client hangs up later
				gone[x.ref] = gone[x.ref] || false
			}
		case 4:
			if !over[x.ref] {
				settle(x.ref, x.at, wire.LostConnection, nil)
				gone[x.ref] = true
				step(x.at, wire.Input{Kind: wire.Abandon, Ticket: uint32(x.ref)})
			}
		}
	}
}

// twinConfig draws a provider.
func twinConfig(t *rapid.T) Config {
	ms := func(label string, lo, hi int) time.Duration {
		return time.Duration(rapid.IntRange(lo, hi).Draw(t, label)) * time.Millisecond
	}
	hint := mockprovider.Hint{Kind: mockprovider.HintKind(rapid.IntRange(0, 4).Draw(t, "hint")), Value: 3 * time.Second}
	refusal := mockprovider.Refusal{Hint: hint}
	if rapid.Bool().Draw(t, "14003") {
		refusal = mockprovider.As14003.WithHint(hint)
	}
	terms := mockprovider.Terms{Per: mockprovider.Account, Refusal: refusal}
	var c mockprovider.Config
	for range rapid.IntRange(0, 2).Draw(t, "limits") {
		n := int32(rapid.IntRange(1, 6).Draw(t, "limit"))
		length := ms("length", 20, 200)
		c.Limits = append(c.Limits, rapid.SampledFrom([]mockprovider.Limit{
			limits.Window{Limit: n, Length: length, Anchored: true, Terms: terms},
			limits.SlidingLog{Limit: n, Length: length, Terms: terms},
			limits.TokenBucket{Limit: n, Length: length, Burst: n, Terms: terms},
			limits.Semaphore{Limit: n, Terms: terms},
			limits.Joint{Limit: n, Length: length, Anchored: true, Terms: terms},
		}).Draw(t, "kind"))
	}
	if len(c.Limits) > 0 {
		c.ReportedLimit = rapid.IntRange(0, 1).Draw(t, "tells")
	}
	c.Slots = rapid.IntRange(0, 4).Draw(t, "slots")
	if c.Slots > 0 {
		c.Queue = rapid.IntRange(0, 3).Draw(t, "queue")
	}
	c.Service.First = draw.Const(ms("first", 0, 60))
	c.Service.PerToken = ms("token", 0, 5)
	c.RefusalTime = ms("refusal", 0, 5)
	if rapid.Bool().Draw(t, "hears") {
		c.Abandoned = mockprovider.Notice{Noticed: true, Delay: ms("notice", 0, 10)}
	}
	for range rapid.IntRange(0, 2).Draw(t, "faults") {
		f := mockprovider.Fault{From: ms("from", 0, 200)}
		f.To = f.From + ms("span", 1, 300)
		f.Probability = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "probability")
		f.Does = rapid.SampledFrom([]mockprovider.Disturbance{
			faults.Refuse{}, faults.Errors{}, faults.Errors{When: faults.AfterWork},
			faults.Silence{}, faults.Silence{When: faults.AfterWork},
			faults.Reset{}, faults.Reset{When: faults.AfterHead}, faults.Reset{When: faults.AfterWork},
			faults.Stall{Tokens: 2}, faults.Latency{Factor: 2},
			faults.Spoil{Body: wire.StreamError, Tokens: 2}, faults.Spoil{Body: wire.SilentEnd, Tokens: 1},
			faults.Spoil{Body: wire.TruncatedBody, Tokens: 3}, faults.Spoil{Body: wire.Garbage},
			faults.Spoil{Body: wire.WrongType}, faults.Spoil{Body: wire.Doubled},
		}).Draw(t, "does")
		c.Faults = append(c.Faults, f)
	}
	if rapid.Bool().Draw(t, "skewed") {
		c.Faults = append(c.Faults, mockprovider.Fault{From: ms("skews", 0, 200), To: mockprovider.Forever, Does: faults.Skew{Ahead: ms("ahead", -5000, 5000) + time.Microsecond}})
	}
	return Config{
		Provider: c, Seed: rapid.Uint64().Draw(t, "seed"), MaxHold: time.Hour, Tenants: -1,
		Keys: []Key{{Secret: "key-0"}, {Secret: "key-1", Account: 1}, {Secret: "key-2", Account: 2}},
	}
}

func twinVisits(t *rapid.T) []visit {
	dialects := dialect.All()
	visits := make([]visit, rapid.IntRange(1, 24).Draw(t, "visits"))
	for i := range visits {
		v := visit{
			at:      time.Duration(rapid.IntRange(0, 300).Draw(t, "at")) * time.Millisecond,
			dialect: rapid.IntRange(0, len(dialects)-1).Draw(t, "dialect"),
			stream:  rapid.Bool().Draw(t, "stream"), account: uint32(rapid.IntRange(0, 3).Draw(t, "account")),
			call: rapid.Uint64Range(0, 5).Draw(t, "call"), attempt: rapid.Uint32Range(1, 3).Draw(t, "attempt"),
			max: rapid.IntRange(1, 20).Draw(t, "max"), output: rapid.Uint32Range(0, 12).Draw(t, "output"),
		}
		v.patience = v.at + time.Duration(rapid.SampledFrom([]int{3, 30, 5000}).Draw(t, "patience"))*time.Millisecond + time.Millisecond/2
		visits[i] = v
	}
	slices.SortStableFunc(visits, func(a, b visit) int { return int(a.at - b.at) })
	for i := range visits { // so that no two clients hang up at the same time
		visits[i].patience += time.Duration(i) * time.Microsecond
	}
	return visits
}

// Clients of a server receive what the provider decides when it is stepped by hand with
// the same requests at the same times: status, headers, bytes and times.
func TestServerAgainstTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg, visits := twinConfig(rt), twinVisits(rt)
		want := byHand(cfg, visits, synctestEpoch)
		got := inServer(t, cfg, visits)
		for i := range visits {
			if w, g := want[i].String(), got[i].String(); w != g {
				rt.Fatalf("visit %d, %+v:\nby hand:\n%s\nby the server:\n%s", i, visits[i], w, g)
			}
		}
	})
}

// synctestEpoch is the start of time in synctest: midnight UTC, 2000-01-01.
const synctestEpoch = 946684800

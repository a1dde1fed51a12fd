package serve

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"herdlab/mockprovider/wire"
)

// metrics are the Prometheus metrics, in a registry of their own. A reset of the
// provider does not reset counters.
type metrics struct {
	registry       *prometheus.Registry
	arrivals       prometheus.Counter
	replies        [wire.NumClasses]prometheus.Counter
	dropped        prometheus.Counter
	connectionLost prometheus.Counter
	abandoned      prometheus.Counter
	rejected       prometheus.Counter
	tokens         [2]prometheus.Counter // in, out
	wait           [wire.NumClasses]prometheus.Observer
	harness        *refusals
}

// refusals counts what the harness refused to protect itself, by reason.
type refusals struct {
	all      atomic.Uint64
	byReason *prometheus.CounterVec
}

func (r *refusals) add(reason string) {
	r.all.Add(1)
	r.byReason.WithLabelValues(reason).Inc()
}

func newMetrics(s *Server) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "herdlab", Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	vec := func(name, help, label string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "herdlab", Name: name, Help: help}, []string{label})
		m.registry.MustRegister(v)
		return v
	}
	gauge := func(name, help string, f func(*State) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Namespace: "herdlab", Name: name, Help: help},
			func() float64 { st := s.State(); return f(&st) },
		))
	}
	m.arrivals = counter("arrivals_total", "Requests that reached the provider.")
	replies := vec("replies_total", "Replies of the provider, by class.", "class")
	for c := range wire.Class(wire.NumClasses) {
		m.replies[c] = replies.WithLabelValues(c.String())
	}
	m.dropped = counter("dropped_total", "Requests that were never answered.")
	m.connectionLost = counter("broken_total", "Requests whose connection was lost.")
	m.abandoned = counter("abandoned_total", "Requests whose client hung up before the end.")
	m.rejected = counter("unread_total", "Requests that did not reach the provider: malformed or with an unknown path.")
	tokens := vec("tokens_total", "Tokens of answered requests.", "direction")
	m.tokens[0], m.tokens[1] = tokens.WithLabelValues("input"), tokens.WithLabelValues("output")
	wait := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "herdlab", Name: "wait_seconds", Help: "From the arrival of a request to its end, on the provider's clock, by class.",
		Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100, 300},
	}, []string{"class"})
	m.registry.MustRegister(wait)
	for c := range wire.Class(wire.NumClasses) {
		m.wait[c] = wait.WithLabelValues(c.String())
	}
	m.harness = &refusals{byReason: vec("harness_refusals_total", "Requests and connections that the harness refused to protect itself.", "reason")}
	gauge("in_flight", "Requests in flight.", func(st *State) float64 { return float64(st.InFlight) })
	gauge("busy", "Requests in service.", func(st *State) float64 { return float64(st.Busy) })
	gauge("queued", "Requests in the queue.", func(st *State) float64 { return float64(st.Queued) })
	gauge("connections", "Open connections.", func(st *State) float64 { return float64(st.Connections) })
	gauge("tenants", "API keys with an account.", func(st *State) float64 { return float64(st.Tenants) })
	gauge("faults_in_force", "Active faults.", func(st *State) float64 {
		n := 0
		for _, f := range st.Faults {
			if f.Active {
				n++
			}
		}
		return float64(n)
	})
	return m
}

// ended counts the end of an exchange. The handler calls it, or the driver if the
// client has hung up.
func (m *metrics) ended(x *exchange) {
	class := endClass(&x.end)
	switch x.end.Kind {
	case wire.Dropped:
		m.dropped.Inc()
	case wire.LostConnection:
		m.connectionLost.Inc()
	default:
		m.replies[class].Inc()
	}
	if class == wire.OK {
		m.tokens[0].Add(float64(x.request.Demand.InputTokens))
		m.tokens[1].Add(float64(x.end.Reply.Tokens))
	}
	m.wait[class].Observe((x.ended - x.arrived).Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

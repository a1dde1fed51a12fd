package live

import (
	"github.com/prometheus/client_golang/prometheus"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Metrics is a recorder that counts for Prometheus. It is a prometheus.Collector
// to be registered; transports may share one.
type Metrics struct {
	attempts, calls, signals   *prometheus.CounterVec
	switched, bytes, tokens    prometheus.Counter
	took, tries, waited, asked prometheus.Histogram
}

// NewMetrics returns metrics that have counted nothing yet.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "herdlab", Subsystem: "live", Name: name, Help: help}, labels)
	}
	plain := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "herdlab", Subsystem: "live", Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "herdlab", Subsystem: "live", Name: name, Help: help, Buckets: buckets})
	}
	return &Metrics{
		attempts: counter("attempts_total", "Attempts that ended, by what the client makes of them.", "class"),
		calls:    counter("calls_total", "Calls that are over, by the reason why.", "reason", "class"),
		signals:  counter("signals_total", "Alarms and notes of the strategy.", "reason", "kind"),
		switched: plain("switched_attempts_total", "Attempts at another model, region or key than the first."),
		bytes:    plain("request_bytes_total", "Bytes of the bodies of attempts, as far as their length is known."),
		tokens:   plain("output_tokens_total", "Output tokens that attempts brought before their stream was handed over."),
		took:     histogram("call_seconds", "How long calls took, waits included.", prometheus.ExponentialBuckets(0.05, 2, 15)),
		tries:    histogram("call_attempts", "Attempts per call.", []float64{0, 1, 2, 3, 5, 8, 13, 21, 34}),
		waited:   histogram("wait_seconds", "How long nothing had happened to calls before their attempts.", prometheus.ExponentialBuckets(0.1, 2, 15)),
		asked:    histogram("retry_after_seconds", "How long providers asked to wait.", prometheus.ExponentialBuckets(0.1, 2, 15)),
	}
}

func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.attempts, m.calls, m.signals, m.switched, m.bytes, m.tokens, m.took, m.tries, m.waited, m.asked}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(ch)
	}
}

// Attempt implements Recorder.
func (m *Metrics) Attempt(a Attempt) {
	m.attempts.WithLabelValues(a.Class.String()).Inc()
	m.waited.Observe(a.Waited.Seconds())
	m.bytes.Add(float64(max(0, a.Sent)))
	m.tokens.Add(float64(a.Tokens))
	if a.Switched {
		m.switched.Inc()
	}
	if a.RetryAfter != wire.NoHint {
		m.asked.Observe(a.RetryAfter.Seconds())
	}
}

// Call implements Recorder.
func (m *Metrics) Call(c Call) {
	m.calls.WithLabelValues(c.Reason.String(), c.Class.String()).Inc()
	m.took.Observe(c.Took.Seconds())
	m.tries.Observe(float64(c.Attempts))
}

// Signal implements Recorder.
func (m *Metrics) Signal(s strategies.SignalSpec) {
	kind := "note"
	if s.Alarm {
		kind = "alarm"
	}
	m.signals.WithLabelValues(s.Reason, kind).Inc()
}

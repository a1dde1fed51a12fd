package live

import (
	"github.com/prometheus/client_golang/prometheus"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// Metrics is a recorder of Prometheus metrics. Register it as a collector;
// several transports may share one.
type Metrics struct {
	attempts, calls, signals                    *prometheus.CounterVec
	switched, bytes, tokens                     prometheus.Counter
	duration, attemptsPerCall, wait, retryAfter prometheus.Histogram
}

// NewMetrics returns Metrics whose values are zero.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "herdlab", Subsystem: "live", Name: name, Help: help}, labels)
	}
	single := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "herdlab", Subsystem: "live", Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "herdlab", Subsystem: "live", Name: name, Help: help, Buckets: buckets})
	}
	return &Metrics{
		attempts:        counter("attempts_total", "Attempts that ended, by class of their outcome.", "class"),
		calls:           counter("calls_total", "Calls that are over, by reason and class.", "reason", "class"),
		signals:         counter("signals_total", "Alarms and notes of the strategy.", "reason", "kind"),
		switched:        single("switched_attempts_total", "Attempts with another model, region or key than the first."),
		bytes:           single("request_bytes_total", "Bytes of request bodies of known length, over all attempts."),
		tokens:          single("output_tokens_total", "Output tokens received; of streams, those before the caller reads."),
		duration:        histogram("call_seconds", "Duration of calls, with their waits.", prometheus.ExponentialBuckets(0.05, 2, 15)),
		attemptsPerCall: histogram("call_attempts", "Attempts per call.", []float64{0, 1, 2, 3, 5, 8, 13, 21, 34}),
		wait:            histogram("wait_seconds", "Time before an attempt without activity of its call.", prometheus.ExponentialBuckets(0.1, 2, 15)),
		retryAfter:      histogram("retry_after_seconds", "Waits that replies asked for.", prometheus.ExponentialBuckets(0.1, 2, 15)),
	}
}

func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.attempts, m.calls, m.signals, m.switched, m.bytes, m.tokens, m.duration, m.attemptsPerCall, m.wait, m.retryAfter}
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
	m.wait.Observe(a.Waited.Seconds())
	m.bytes.Add(float64(max(0, a.Sent)))
	m.tokens.Add(float64(a.Tokens))
	if a.Switched {
		m.switched.Inc()
	}
	if a.RetryAfter != wire.NoHint {
		m.retryAfter.Observe(a.RetryAfter.Seconds())
	}
}

// Call implements Recorder.
func (m *Metrics) Call(c Call) {
	m.calls.WithLabelValues(c.Reason.String(), c.Class.String()).Inc()
	m.duration.Observe(c.Took.Seconds())
	m.attemptsPerCall.Observe(float64(c.Attempts))
}

// Signal implements Recorder.
func (m *Metrics) Signal(s strategies.SignalSpec) {
	kind := "note"
	if s.Alarm {
		kind = "alarm"
	}
	m.signals.WithLabelValues(s.Reason, kind).Inc()
}

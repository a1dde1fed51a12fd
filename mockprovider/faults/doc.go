// Package faults has every kind of fault of a provider.
//
// Each type is a [mockprovider.Disturbance]: what a fault does. A
// [mockprovider.Fault] adds when, to which requests, and with which probability. Most
// readers need three: [Outage] for a provider that refuses everything for a while,
// [Errors] for an error rate, and [Latency] for slow replies.
//
// A new fault is one file, one test and one line in the table of specimens of the
// package's tests.
package faults

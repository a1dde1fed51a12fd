// Package simtest helps tests that run experiments: fleets, providers and layers
// in one line each.
//
// Run runs an experiment, Server is a provider that a test writes itself, and an
// EventLog records the events that a strategy receives.
package simtest

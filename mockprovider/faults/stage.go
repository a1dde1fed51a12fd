package faults

import (
	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Stage is how far a request has come when something goes wrong with it.
type Stage uint8

// The stages.
const (
	AtArrival Stage = iota // at once: it sees no limit and costs no work
	AfterHead              // when the head of its reply has left, which only streams have by then
	AfterWork              // when its work is done, or in place of the head if it is a stream
	numStages = iota
)

// endBeforeHead ends the work on a stream when its head would be sent.
func endBeforeHead(w *mockprovider.Work, r *wire.Request, _ draw.Rand) {
	if r.Stream && w.Head != mockprovider.NoHead {
		w.Whole, w.Tokens = w.Head, 0
	}
}

// endAfterHead ends the work on a stream when its head has just been sent, and
// with that its first token.
func endAfterHead(w *mockprovider.Work, r *wire.Request, _ draw.Rand) {
	if r.Stream && w.Head != mockprovider.NoHead {
		w.Whole, w.Tokens = w.Head+1, min(w.Tokens, 1)
	}
}

// Names returns the name of each stage, as files spell it, and its meaning.
func (Stage) Names() [][2]string {
	return [][2]string{
		AtArrival: {"at_arrival", "at once: the request meets no limit and costs no work"},
		AfterHead: {"after_head", "when the head of the reply has left, of a stream with its first token"},
		AfterWork: {"after_work", "when the work is done, so it has cost quota and a slot"},
	}
}

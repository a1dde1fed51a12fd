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

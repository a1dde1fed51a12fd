package strategies

import (
	"errors"
	"fmt"
	"strings"

	"herdlab/mockprovider/wire"
)

// A Layer is the configuration of one layer of a stack. Build turns it into a
// program around inner, reserving in b the memory it needs. It reports a
// configuration that makes no sense as an error that says what to change.
type Layer interface {
	Build(b *Build, inner Strategy) (Strategy, error)
}

// Definition is a named strategy: the layers of its stack, outermost first,
// and how its client reads replies.
type Definition struct {
	// Name is how files and results call it: lower case, digits, dots, plus
	// and hyphens.
	Name string
	// Summary is one line for lists: what it does and when it is right.
	Summary string
	// Reader is how the client understands replies; nil means wire.ByBody.
	Reader wire.Reader
	// Layers is the stack, outermost first. An empty stack sends once.
	Layers []Layer
}

// Program is a compiled strategy: immutable, and shared by all clients that
// run it, also on several cores.
type Program struct {
	Name   string
	Reader wire.Reader
	// Root is the outermost layer.
	Root Strategy
	// Words is how many words each scope of a driver's memory must have; for
	// PerEveryone it is how many this program knows of (see Commons).
	Words [NumScopes]int
	// Pools are the pools the stack waits for, by PoolID.
	Pools []PoolSpec
	// Flights are the tables of flights that calls join, by FlightID.
	Flights []FlightSpec
	// Signals are the alarms and notes that the stack may raise.
	Signals []SignalSpec
	// WantsSent asks the driver to deliver Sent events.
	WantsSent bool
	// ChangesDemand says that a layer changes Call.Demand, so that the driver
	// must keep it with the call.
	ChangesDemand bool
	// AsksDemand says that a layer looks at Call.Demand: finding out what a real
	// request asks for takes reading it. Remembers says that one answers from
	// memory, so that a driver of real replies must keep them by their prompt.
	AsksDemand, Remembers bool
	// Pieces are the layers that send what a call asks for in pieces, each with an
	// answer of its own: each tells which piece, from 0 up, of how many the call
	// asks for next, 0 of 0 if that is all.
	Pieces []func(c *Call) (piece, of int)
	// Trims says that a layer asks for less input than the caller did.
	Trims bool
	// Races says that calls may have several attempts under way, and a timer
	// besides.
	Races bool
	// Scripted asks the driver for coroutines (see Scripts).
	Scripted bool
	// Layers names the guards and loops, innermost first: bit i of Call.Phase
	// is set while Layers[i] has the call waiting.
	Layers []string
}

// nameLetters is what names are made of.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789.+-"

// Compile builds d into a program. Layers that share memory with everyone find
// each other in shared, which all programs of a run must be compiled with;
// nil gives d shared memory of its own.
func Compile(d Definition, shared *SharedMemory) (*Program, error) {
	if d.Name == "" {
		return nil, errors.New("strategies: a definition needs a name")
	}
	if strings.Trim(d.Name, nameLetters) != "" {
		return nil, fmt.Errorf("strategies: the name %q has other than lower case letters, digits, dots, plus signs and hyphens", d.Name)
	}
	if shared == nil {
		shared = NewSharedMemory()
	}
	p := &Program{Name: d.Name, Reader: d.Reader}
	if p.Reader == nil {
		p.Reader = wire.ByBody{}
	}
	b := &Build{program: p, shared: shared}
	s, err := b.stack(d.Layers)
	if err != nil {
		return nil, fmt.Errorf("strategy %q: %w", d.Name, err)
	}
	p.Root = s
	p.Words[PerEveryone] = shared.words
	return p, nil
}

// Build is a stack under construction.
type Build struct {
	program *Program
	shared  *SharedMemory
	purpose Purpose
	// width is how many attempts of one call may be in flight inside the layers
	// built so far; 0 means one.
	width int
}

// maxLayers is how many bits of Call.Phase drivers store.
const maxLayers = 16

func (b *Build) stack(layers []Layer) (Strategy, error) {
	var s Strategy = &sender{}
	for i := len(layers) - 1; i >= 0; i-- {
		if layers[i] == nil {
			return nil, fmt.Errorf("layer %d of the stack is nil; leave it out", i+1)
		}
		var err error
		if s, err = layers[i].Build(b, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Reserve reserves n words of the given scope. Layers that are to share words
// with everyone must say under which name: the same name gives the same words.
func (b *Build) Reserve(scope Scope, n int, name string) (Slot, error) {
	return b.reserve(scope, n, name, "")
}

// MaxWords is how many words one layer may reserve in one scope: what a million
// clients have a million times is meant to be small.
const MaxWords = 1024

// reserve is Reserve for words that mean something only to layers of the same
// config.
func (b *Build) reserve(scope Scope, n int, name, config string) (Slot, error) {
	switch {
	case scope >= NumScopes:
		return Slot{}, fmt.Errorf("there is no %v; use call, client, fleet or everyone", scope)
	case n < 0 || n > MaxWords:
		return Slot{}, fmt.Errorf("cannot reserve %d words; a layer may have 0 to %d", n, MaxWords)
	case scope == PerEveryone:
		return b.shared.reserve(n, name, config)
	}
	s := Slot{scope: scope, n: uint16(n), at: uint32(b.program.Words[scope])}
	b.program.Words[scope] += n
	return s, nil
}

// ReserveShared reserves n words for a layer that clients share: scope is PerClient
// or wider. Layers that share words with everyone share those of the same kind and
// name; it is an error if their config, which describes them as text, differs.
func (b *Build) ReserveShared(scope Scope, n int, kind, name, config string) (Slot, error) {
	if err := scope.CheckShared(name); err != nil {
		return Slot{}, err
	}
	return b.reserve(scope, n, kind+" "+name, config)
}

// Purpose returns a purpose for draws that no other layer of the stack has.
func (b *Build) Purpose() Purpose {
	b.purpose++
	return b.purpose
}

// WantSent asks for Sent events, which drivers do not deliver otherwise.
func (b *Build) WantSent() { b.program.WantsSent = true }

// ChangesDemand announces that the layer changes Call.Demand: that it shrinks,
// caps or merges what is asked for.
func (b *Build) ChangesDemand() { b.program.ChangesDemand, b.program.AsksDemand = true, true }

// AsksDemand announces that the layer looks at Call.Demand.
func (b *Build) AsksDemand() { b.program.AsksDemand = true }

// Remembers announces that the layer answers calls with what an equal one got.
func (b *Build) Remembers() { b.program.Remembers, b.program.AsksDemand = true, true }

// Races reports whether a layer inside has several attempts of one call under way.
// Such a layer uses the call's timer, and accounts for the attempts it sends.
func (b *Build) Races() bool { return b.program.Races }

// Trims announces that the layer asks for less input than the caller did.
func (b *Build) Trims() { b.program.Trims = true }

// SendsPieces announces that the layer sends what a call asks for in pieces, each
// with an answer of its own. Piece returns which piece the call asks for next,
// counted from 0, and how many there are; 0 of 0 if it asks for everything.
func (b *Build) SendsPieces(piece func(c *Call) (piece, of int)) {
	b.program.Pieces = append(b.program.Pieces, piece)
}

package strategies

import (
	"errors"
	"fmt"
	"strings"

	"herdlab/mockprovider/wire"
)

// A Layer is the configuration of one layer of a stack. Build turns it into a
// program around inner, reserving in b the memory it needs. It returns an error for
// an invalid configuration, with the setting to change.
type Layer interface {
	Build(b *Build, inner Strategy) (Strategy, error)
}

// Definition is a named strategy: the layers of its stack, outermost first,
// and how its client reads replies.
type Definition struct {
	// Name is its name in files and results: lower case letters, digits, dots, plus
	// signs and hyphens.
	Name string
	// Summary is one line for lists: what the strategy does and when to use it.
	Summary string
	// Reader is how the client reads replies; nil means wire.ByBody.
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
	// Words is the number of words that each scope of a driver's memory must have.
	// For PerEveryone it is the number when this program was compiled; see
	// SharedMemory.
	Words [NumScopes]int
	// Pools are the pools of the stack, by PoolID.
	Pools []PoolSpec
	// Flights are the tables of shared flights, by FlightID.
	Flights []FlightSpec
	// Signals are the alarms and notes that the stack may raise.
	Signals []SignalSpec
	// WantsSent asks the driver to deliver Sent events.
	WantsSent bool
	// ChangesDemand is true if a layer changes Call.Demand, so that the driver must
	// store it with the call.
	ChangesDemand bool
	// AsksDemand is true if a layer reads Call.Demand, so that a driver of real
	// requests must parse them. Remembers is true if a layer answers from memory, so
	// that a driver of real replies must store them by prompt.
	AsksDemand, Remembers bool
	// Pieces has a function for each layer that sends the demand of a call in
	// pieces, each with its own answer. It returns the index of the piece that the
	// call asks for next, counted from 0, and the number of pieces; 0 of 0 if the
	// call asks for everything.
	Pieces []func(c *Call) (piece, of int)
	// Trims is true if a layer asks for less input than the caller.
	Trims bool
	// Races is true if a call may have several attempts in flight, and a timer
	// besides.
	Races bool
	// Scripted asks the driver for coroutines (see Scripts).
	Scripted bool
	// Layers names the guards and loops, innermost first: bit i of Call.Phase
	// is set while Layers[i] has the call waiting.
	Layers []string
}

// nameLetters are the characters allowed in names.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789.+-"

// Compile builds d into a program. Layers of scope PerEveryone share memory through
// shared, which must be the same for all programs of a run; if it is nil, d gets its
// own. It returns an error if the name is empty or has other characters, or if a
// layer is nil or invalid.
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
	// width is the maximum number of attempts of one call in flight inside the
	// layers built so far; 0 means one.
	width int
}

// maxLayers is the number of bits of DriverState.Phase that drivers store.
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

// Reserve reserves n words of the given scope, 0 to MaxWords. Scope PerEveryone needs
// a name: the same name gives the same words.
func (b *Build) Reserve(scope Scope, n int, name string) (Slot, error) {
	return b.reserve(scope, n, name, "")
}

// MaxWords is the maximum of words in one reservation. It is small because there may
// be a million clients, each with its own words.
const MaxWords = 1024

// reserve is like Reserve, and requires layers that share the words to have the same
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

// Purpose returns a new purpose for draws, unique within the stack.
func (b *Build) Purpose() Purpose {
	b.purpose++
	return b.purpose
}

// WantSent asks for Sent events, which drivers do not deliver otherwise.
func (b *Build) WantSent() { b.program.WantsSent = true }

// ChangesDemand declares that the layer changes Call.Demand, for example shrinks,
// caps or merges it.
func (b *Build) ChangesDemand() { b.program.ChangesDemand, b.program.AsksDemand = true, true }

// AsksDemand declares that the layer reads Call.Demand.
func (b *Build) AsksDemand() { b.program.AsksDemand = true }

// Remembers declares that the layer answers calls with the answer of an earlier equal
// call.
func (b *Build) Remembers() { b.program.Remembers, b.program.AsksDemand = true, true }

// Races reports whether a layer inside has several attempts of one call in flight.
// Such a layer uses the call's timer, and accounts for the attempts it sends.
func (b *Build) Races() bool { return b.program.Races }

// Trims declares that the layer asks for less input than the caller.
func (b *Build) Trims() { b.program.Trims = true }

// SendsPieces declares that the layer sends the demand of a call in pieces, each with
// its own answer. Piece returns which piece the call asks for next,
// counted from 0, and how many there are; 0 of 0 if it asks for everything.
func (b *Build) SendsPieces(piece func(c *Call) (piece, of int)) {
	b.program.Pieces = append(b.program.Pieces, piece)
}

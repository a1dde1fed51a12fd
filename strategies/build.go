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
	// WantsSent asks the driver to deliver Sent events.
	WantsSent bool
	// Layers names the layers, innermost first: bit i of Call.Phase is set
	// while Layers[i] has the call waiting.
	Layers []string
}

// Compile builds d into a program. Layers that share memory with everyone find
// each other in commons, which all programs of a run must be compiled with;
// nil gives d a commons of its own.
func Compile(d Definition, commons *Commons) (*Program, error) {
	if d.Name == "" {
		return nil, errors.New("strategies: a definition needs a name")
	}
	if commons == nil {
		commons = NewCommons()
	}
	p := &Program{Name: d.Name, Reader: d.Reader}
	if p.Reader == nil {
		p.Reader = wire.ByBody{}
	}
	b := &Build{program: p, commons: commons}
	s, err := b.stack(d.Layers)
	if err != nil {
		return nil, fmt.Errorf("strategy %q: %w", d.Name, err)
	}
	p.Root = s
	p.Words[PerEveryone] = commons.words
	return p, nil
}

// Commons is the memory that all programs of a run share: which words belong
// to which shared layer.
type Commons struct {
	words int
	at    map[string]Slot
	size  map[string]int
}

// NewCommons returns an empty commons.
func NewCommons() *Commons {
	return &Commons{at: map[string]Slot{}, size: map[string]int{}}
}

// Words returns how many words everyone shares.
func (c *Commons) Words() int { return c.words }

// Build is a stack under construction.
type Build struct {
	program *Program
	commons *Commons
	purpose Purpose
}

// maxLayers is how many bits of Call.Phase drivers store.
const maxLayers = 16

func (b *Build) stack(layers []Layer) (Strategy, error) {
	var s Strategy = sender{}
	for i := len(layers) - 1; i >= 0; i-- {
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
	if scope == PerEveryone {
		return b.commons.reserve(n, name)
	}
	s := Slot{scope: scope, at: uint32(b.program.Words[scope])}
	b.program.Words[scope] += n
	return s, nil
}

func (c *Commons) reserve(n int, name string) (Slot, error) {
	if name == "" {
		return Slot{}, errors.New("memory shared by everyone needs a name")
	}
	if s, ok := c.at[name]; ok {
		if c.size[name] != n {
			return Slot{}, fmt.Errorf("two layers share the memory %q but need %d and %d words", name, c.size[name], n)
		}
		return s, nil
	}
	s := Slot{scope: PerEveryone, at: uint32(c.words)}
	c.words += n
	c.at[name], c.size[name] = s, n
	return s, nil
}

// Purpose returns a purpose for draws that no other layer of the stack has.
func (b *Build) Purpose() Purpose {
	b.purpose++
	return b.purpose
}

// WantSent asks for Sent events, which drivers do not deliver otherwise.
func (b *Build) WantSent() { b.program.WantsSent = true }

// phase returns a bit of Call.Phase that no other layer of the stack has.
func (b *Build) phase(layer any) (uint32, error) {
	n := len(b.program.Layers)
	if n == maxLayers {
		return 0, fmt.Errorf("a stack has at most %d layers", maxLayers)
	}
	b.program.Layers = append(b.program.Layers, strings.TrimPrefix(fmt.Sprintf("%T", layer), "*"))
	return 1 << n, nil
}

package strategies

import (
	"fmt"
	"strings"
)

// Waiting marks the calls that wait in one layer: the next Wake, Admitted or Joined
// of such a call is for that layer, not for one inside. The zero value marks
// nothing; Build.Waiting returns a mark.
type Waiting struct{ bit uint32 }

// In reports whether c waits in the layer.
func (w Waiting) In(c *Call) bool { return c.driver.Phase&w.bit != 0 }

// Set marks c as waiting in the layer.
func (w Waiting) Set(c *Call) { c.driver.Phase |= w.bit }

// Clear removes the mark.
func (w Waiting) Clear(c *Call) { c.driver.Phase &^= w.bit }

// Waiting returns the mark for the calls that wait in a layer. Reports name the
// layer as given; of a type's name, as %T writes it, they omit the package.
func (b *Build) Waiting(layer string) (Waiting, error) {
	n := len(b.program.Layers)
	if n == maxLayers {
		return Waiting{}, fmt.Errorf("a stack has at most %d layers", maxLayers)
	}
	name := strings.TrimPrefix(layer, "*")
	b.program.Layers = append(b.program.Layers, name[strings.LastIndexByte(name, '.')+1:])
	return Waiting{1 << n}, nil
}

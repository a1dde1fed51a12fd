package scenarios

import (
	"fmt"
	"io"
	"os"
	"slices"

	"herdlab/mockprovider/dialect"
	"herdlab/strategies/presets"
)

// Format is the format of scenario files with the parts that a file may name. The
// zero value has the built-in parts; NewFormat adds others. It is not changed by use.
type Format struct {
	dialects   []dialect.Dialect // besides the built-in ones
	strategies []presets.Builtin // likewise

	layers, backoffs, trips, limits, faults []Kind // likewise; each prototype implements the interface of its list
}

// builtinFormat is the format of the functions that have no Format.
var builtinFormat Format

// Parse reads a scenario from the text of a file, with the built-in parts. Messages
// name the file as given. All mistakes are reported at once, as Problems: first those
// of the YAML, then those of the contents, then strategies that do not fit the
// provider.
func Parse(file string, src []byte) (*Scenario, error) { return builtinFormat.Parse(file, src) }

// Load reads a scenario file with the built-in parts.
func Load(path string) (*Scenario, error) { return builtinFormat.Load(path) }

// Builtin returns the built-in scenario of that name.
func Builtin(name string) (*Scenario, error) { return builtinFormat.Builtin(name) }

// Load is the function Load with the parts of the format.
func (f *Format) Load(path string) (*Scenario, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return f.Parse(path, src)
}

// Words returns a reader of parts that stand alone, such as a fault.
func (f *Format) Words() Words { return Words{format: f} }

// Strategies returns the strategies that files may name: the built-in ones, then the
// others.
func (f *Format) Strategies() []presets.Builtin {
	return append(presets.All(), f.strategies...)
}

// Added returns the strategies that files may name besides the built-in ones.
func (f *Format) Added() []presets.Builtin { return slices.Clone(f.strategies) }

// Dialects returns the dialects that files may name besides the built-in ones.
func (f *Format) Dialects() []dialect.Dialect { return slices.Clone(f.dialects) }

// dialect returns the dialect of that name.
func (f *Format) dialect(name string) (dialect.Dialect, bool) {
	for i := range f.dialects {
		if f.dialects[i].Name == name {
			return f.dialects[i], true
		}
	}
	return dialect.ByName(name)
}

// dialectNames returns the names of all dialects.
func (f *Format) dialectNames() []string {
	names := dialectNames()
	for i := range f.dialects {
		names = append(names, f.dialects[i].Name)
	}
	return names
}

package scenarios

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/presets"
)

// Parts are what a program adds to the built-in parts of a Format.
type Parts struct {
	// The prototypes of these kinds implement strategies.Layer, strategies.Backoff,
	// layers.Trip, mockprovider.Limit and mockprovider.Disturbance.
	Layers, Backoffs, Trips, Limits, Faults []Kind
	// Dialects are further dialects of providers.
	Dialects []dialect.Dialect
	// Strategies are further strategies that files may name.
	Strategies []presets.Builtin
}

// NewFormat returns the format with the built-in parts and more. It reports names
// that are invalid or taken, prototypes that do not implement the interface of their
// list, and settings of a type that files cannot write.
func NewFormat(more Parts) (*Format, error) {
	var f Format
	err := errors.Join(
		addKinds[strategies.Layer]("layer", &f.layers, f.allLayers(), more.Layers),
		addKinds[strategies.Backoff]("backoff", &f.backoffs, f.allBackoffs(), more.Backoffs),
		addKinds[layers.Trip]("trip", &f.trips, f.allTrips(), more.Trips),
		addKinds[mockprovider.Limit]("limit", &f.limits, f.allLimits(), more.Limits),
		addKinds[mockprovider.Disturbance]("fault", &f.faults, f.allFaults(), more.Faults),
	)
	taken := append(f.dialectNames(), ownDialect)
	for _, d := range more.Dialects {
		err = errors.Join(err, checkName("dialect", d.Name, nameForm, taken))
		taken = append(taken, d.Name)
	}
	taken = nil
	for _, b := range presets.All() {
		taken = append(taken, b.Name)
	}
	for _, b := range more.Strategies {
		err = errors.Join(err, checkName("strategy", b.Name, strategyNameForm, taken))
		if taken = append(taken, b.Name); b.Define == nil {
			err = errors.Join(err, fmt.Errorf("strategy %q has no function Define", b.Name))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("parts: %w", err)
	}
	f.dialects, f.strategies = slices.Clone(more.Dialects), slices.Clone(more.Strategies)
	return &f, nil
}

// The forms of names: of kinds, which are keys of files, and of strategies.
var (
	kindNameForm     = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	strategyNameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]{0,63}$`)
)

// checkName reports an error if a name is invalid or taken.
func checkName(what, name string, form *regexp.Regexp, taken []string) error {
	switch {
	case !form.MatchString(name):
		return fmt.Errorf("%s %q: the name does not match %v", what, name, form)
	case slices.Contains(taken, name):
		return fmt.Errorf("%s %q: the name is taken", what, name)
	}
	return nil
}

// addKinds checks kinds whose prototypes must be of type T, and adds them to a list.
func addKinds[T any](what string, to *[]Kind, all, more []Kind) (err error) {
	taken := []string{"pass"}
	for i := range all {
		taken = append(taken, all[i].Name)
	}
	for _, k := range more {
		wrong := checkName(what, k.Name, kindNameForm, taken)
		if _, ok := k.Prototype.(T); !ok && wrong == nil {
			wrong = fmt.Errorf("%s %q: the prototype %T is not a %v", what, k.Name, k.Prototype, reflect.TypeFor[T]())
		} else if wrong == nil {
			if why := unreadable(reflect.TypeOf(k.Prototype), nil); why != "" {
				wrong = fmt.Errorf("%s %q: %s", what, k.Name, why)
			}
		}
		err = errors.Join(err, wrong)
		*to, taken = append(*to, k), append(taken, k.Name)
	}
	return err
}

// unreadable returns why files cannot write a type, "" if they can. outer are the
// types that contain it.
func unreadable(t reflect.Type, outer []reflect.Type) string {
	_, chosen := choices[t]
	_, spelt := spellingOf(t)
	if chosen || spelt || enumerated(t) != nil || t == durationType || t == distType || t == refusalType || slices.Contains(outer, t) {
		return ""
	}
	outer = append(outer, t)
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return ""
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return unreadable(t.Elem(), outer)
	case reflect.Struct:
		for _, s := range settingsOf(t) {
			if why := unreadable(s.to.Type(), outer); why != "" {
				return s.key + ": " + why
			}
		}
		return ""
	}
	return fmt.Sprintf("files cannot write the type %v", t)
}

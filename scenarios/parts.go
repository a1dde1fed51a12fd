package scenarios

import (
	"reflect"
	"slices"

	"herdlab/mockprovider"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// Kind is one of several things that a file may choose between, each with its own
// settings: a layer, a backoff, a trip, a limit or a fault.
//
// The settings are the exported fields of the prototype, a struct, under their
// names in snake case; those of an embedded struct count as its own. The tags of a
// field state what the format needs. Reading, the list of keys and the JSON Schema
// use nothing else:
//
//	about:"How long it waits."    a sentence for users; each field has one
//	unit:"requests"               what a number counts; with % a file may write 40% for 40
//	required:"20"                 the file must have the setting; an example
//	default:"1m"                  the value without the setting, as a file writes it
//	without:"there is no bound"   what holds without the setting, in words
//	least:"1" most:"100"          bounds of a whole number or a duration, checked on reading
//	key:"codel"                   the key, if it is not the field's name in snake case; "-" for none
//	rate:"Per"                    a count that is one setting, a rate such as 120/min, with the field
//	                              of its time; "Per,whole" refuses fractions such as 2.1/s
//	names:"models"                the value is written as the name of a model; or regions, accounts
//	only:"client fleet"           the words of an enumeration that are permitted here
//	except:"call"                 the words that are not; of an embedded struct: its keys that are not
//	defaults:"min:1 max:9"        of an embedded struct: the values without its keys
//
// A field may be a bool, a text, a number, a time.Duration, a draw.Dist, one of the
// interfaces of kinds, a struct, or a list of these. A type with a method Names()
// [][2]string is an enumeration: the method returns the word for each value from 0
// up, and its meaning in one sentence.
type Kind struct {
	// Name is what files call it; Summary is one sentence on what it does.
	Name, Summary string
	// Prototype has the values of the settings that a file leaves out. A prototype
	// that is not a struct is itself the one setting. It is nil for the choice of
	// nothing.
	Prototype any
	// Group is the title under which the list of keys has it and those that follow;
	// empty for that of the kind before.
	Group string
}

// fresh returns a copy of the prototype that can be set.
func (k *Kind) fresh() reflect.Value {
	v := reflect.New(reflect.TypeOf(k.Prototype)).Elem()
	v.Set(reflect.ValueOf(k.Prototype))
	return v
}

// The kinds that files of a format may choose between, the built-in ones first.
func (f *Format) allLayers() []Kind   { return slices.Concat(layerKinds, f.layers) }
func (f *Format) allBackoffs() []Kind { return slices.Concat(backoffKinds, f.backoffs) }
func (f *Format) allTrips() []Kind    { return slices.Concat(tripKinds, f.trips) }
func (f *Format) allLimits() []Kind   { return slices.Concat(limitKinds, f.limits) }
func (f *Format) allFaults() []Kind   { return slices.Concat(faultKinds, f.faults) }

// selection is an interface type of which a file chooses a kind.
type selection struct {
	name  string // of one of the kinds, for the list of keys
	kinds func(*Format) []Kind
}

// choices are all of them.
var choices = map[reflect.Type]selection{
	reflect.TypeFor[strategies.Layer]():         {"layer", (*Format).allLayers},
	reflect.TypeFor[strategies.Backoff]():       {"backoff", (*Format).allBackoffs},
	reflect.TypeFor[layers.Trip]():              {"trip", (*Format).allTrips},
	reflect.TypeFor[mockprovider.Limit]():       {"limit", (*Format).allLimits},
	reflect.TypeFor[mockprovider.Disturbance](): {"fault without from and to, or pass", (*Format).allAnswers},
}

// allAnswers returns what a script may answer a request with.
func (f *Format) allAnswers() []Kind {
	return append([]Kind{{Name: "pass", Summary: "The request is served as if there were no script."}}, f.allFaults()...)
}

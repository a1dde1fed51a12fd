package scenarios

import (
	"strings"
	"time"

	"herdlab/mockprovider/dialect"
)

// The types of settings that files write in a way of their own. No value has these
// types: they stand in forms for what is read key by key.
type (
	versionText    string
	nameText       string
	titleText      string
	rateText       string
	phaseText      string
	tokensText     string
	dialectText    string
	hintText       string
	eitherText     string
	metricText     string
	boundText      string
	betweenText    string
	shareText      string
	namesText      string
	strategyChoice string
	layerChoice    string
	timedFault     string
)

// expectForm lists the keys of an expectation.
type expectForm struct {
	Strategy namesText     `without:"all that are compared" about:"The strategies that it is about, each by itself."`
	Fleet    string        `without:"all fleets together" about:"One of several fleets."`
	Metric   metricText    `required:"attempts" about:"What is measured."`
	From     time.Duration `default:"0s" about:"Where the part of the run begins in which events are counted."`
	To       time.Duration `without:"the horizon" about:"Where that part ends."`
	Is       boundText     `without:"at_least, at_most or between is required" about:"The value that it must have."`
	Within   shareText     `default:"0" about:"How far it may be from that value, as a number or a percentage of it."`
	AtLeast  boundText     `without:"there is no lower bound" about:"The least that it may be."`
	AtMost   boundText     `without:"there is no upper bound" about:"The most that it may be."`
	Between  betweenText   `without:"there is no range" about:"The least and the most that it may be."`
	Seeds    int           `least:"1" most:"10000" default:"1" unit:"seeds" about:"How many seeds are run, from 1 on."`
	On       over          `about:"How the expectation counts over several seeds."`
}

// comparisonForm lists the keys of a bound that is a multiple of another value.
type comparisonForm struct {
	Of     string     `required:"full-jitter" about:"The strategy that it is compared with."`
	Times  float64    `default:"1" unit:"times" about:"The factor on its value."`
	Metric metricText `without:"the same" about:"What is measured of it."`
	Fleet  string     `without:"the same" about:"The fleet of it."`
}

// priceForm lists the keys of a price.
type priceForm struct {
	Input  float64 `default:"0" unit:"$ per million tokens" about:"What tokens of the prompt cost."`
	Output float64 `default:"0" unit:"$ per million tokens" about:"What tokens of the answer cost."`
}

// names lists names for people.
func listed(names []string) string { return strings.Join(names, " | ") }

func dialectNames() (names []string) {
	for _, d := range dialect.All() {
		names = append(names, d.Name)
	}
	return names
}

func classSetNames() (names []string) {
	for _, s := range classSets {
		names = append(names, s.name)
	}
	return names
}

func refusalNames() (names []string) {
	for _, f := range refusalForms {
		names = append(names, f.name)
	}
	return names
}

func hintNames() (names []string) {
	for _, h := range hints {
		names = append(names, h.name)
	}
	return names
}

func metricNames() (names []string) {
	for _, f := range allMetrics() {
		names = append(names, f.name)
	}
	return names
}

package mockprovider

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSchedule(t *testing.T) {
	const h = time.Hour
	day := Schedule{Steps: []Step{{8 * h, 2}, {18 * h, 0.5}}, Every: 24 * h}
	once := Schedule{Steps: day.Steps}
	for _, c := range []struct {
		s     Schedule
		at    time.Duration
		value float64
		until time.Duration
	}{
		{Schedule{}, 5 * h, 1, never},
		{Always(3), 0, 3, never},
		{day, 0, 0.5, 8 * h}, // the night before
		{day, 8*h - 1, 0.5, 8 * h},
		{day, 8 * h, 2, 18 * h},
		{day, 18 * h, 0.5, 32 * h},
		{day, 24 * h, 0.5, 32 * h},
		{day, 33 * h, 2, 42 * h},
		{once, 0, 1, 8 * h},
		{once, 8 * h, 2, 18 * h},
		{once, 18 * h, 0.5, never},
		{once, 1000 * h, 0.5, never},
		{day, never - 1, 0.5, never},
	} {
		value, until := c.s.at(c.at, 1)
		require.Equal(t, c.value, value, "%+v at %v", c.s, c.at)
		require.Equal(t, c.until, until, "%+v at %v", c.s, c.at)
	}
	for _, c := range []struct {
		s           Schedule
		least, most float64
	}{{Schedule{}, 1, 1}, {day, 0.5, 2}, {once, 0.5, 2}, {Schedule{Steps: []Step{{1, 0.5}}}, 0.5, 1}, {Always(3), 3, 3}} {
		least, most := c.s.span(1)
		require.Equal(t, [2]float64{c.least, c.most}, [2]float64{least, most}, "%+v", c.s)
	}
}

// Between the times it names, a schedule does not change, and they lie ahead.
func TestScheduleChangesWhenItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Schedule
		from := time.Duration(0)
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			from += time.Duration(rapid.IntRange(0, 20).Draw(t, "after"))
			s.Steps = append(s.Steps, Step{from, rapid.Float64Range(0, 2).Draw(t, "value")})
			from++
		}
		if len(s.Steps) > 0 && rapid.Bool().Draw(t, "repeats") {
			s.Every = from + time.Duration(rapid.IntRange(0, 20).Draw(t, "rest"))
		}
		value, until := s.at(0, 1)
		for now := range time.Duration(200) {
			require.Greater(t, until, now)
			got, next := s.at(now, 1)
			require.Equal(t, value, got)
			require.Equal(t, until, next)
			if now+1 == until {
				value, until = s.at(until, 1)
			}
		}
	})
}

func TestScheduleValidate(t *testing.T) {
	for want, s := range map[string]Schedule{
		"it repeats nothing; give it steps":                                                   {Every: time.Hour},
		"it must repeat after 1ms or more, not 1ns; leave that out if it does not repeat":     {Steps: []Step{{}}, Every: 1},
		"it must repeat after 1ms or more, not -1h0m0s; leave that out if it does not repeat": {Steps: []Step{{}}, Every: -time.Hour},
		"step 1 must not begin before 0":                                                      {Steps: []Step{{-1, 0}}},
		"step 2 must begin after the one before it":                                           {Steps: []Step{{5, 0}, {5, 1}}},
		"step 1 must begin before the schedule is over, at 1h0m0s":                            {Steps: []Step{{time.Hour, 1}}, Every: time.Hour},
		"step 1 must be 0 to 2, not NaN":                                                      Always(math.NaN()),
		"step 1 must be 0 to 2, not 2.5":                                                      Always(2.5),
	} {
		require.EqualError(t, s.validate(0, 2), want)
	}
	require.NoError(t, (&Schedule{Steps: []Step{{0, 0}, {1, 2}}, Every: time.Hour}).validate(0, 2))
}

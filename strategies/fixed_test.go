package strategies

import "testing"

func TestFixed(t *testing.T) {
	naive := Seconds(0, 0, 0)
	requireBounds(t, Fixed{}, naive, naive)
	even := Seconds(30, 30, 30)
	requireBounds(t, Fixed{Every: even[0]}, even, even)
	jitter := Seconds(0.5)[0]
	requireBounds(t, Fixed{Every: even[0], Jitter: jitter}, even, Seconds(30.5, 30.5, 30.5))

	// n waits of 30 s + U(0, 30 s): mean 45n, variance n·30²/12.
	requireTotals(t, Fixed{Every: even[0], Jitter: even[0]}, 0, []Total{
		{n: 1, mean: 45, sd: 8.660254, least: 30, max: 60},
		{n: 3, mean: 135, sd: 15, least: 90, max: 180},
	})
}

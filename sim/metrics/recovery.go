package metrics

import "time"

// recoveryWindow is how long useful answers must hold the level to count as
// recovered, unless two mean service times are longer; recoveryShare is the level.
const (
	recoveryWindow = 10 * time.Second
	recoveryShare  = 0.95
)

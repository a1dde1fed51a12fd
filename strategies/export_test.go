package strategies

// EveryLayer is one of each layer, for tests that run them in the simulator.
func EveryLayer() map[string]Layer { return everyLayer() }

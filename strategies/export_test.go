package strategies

// DrawIndex returns the number of a draw, for the test that no two have the same.
func (c *Call) DrawIndex(p Purpose) uint64 { return c.index(p) }

// EmptyBuild returns a stack under construction without layers.
func EmptyBuild() *Build { return &Build{program: &Program{}, shared: NewSharedMemory()} }

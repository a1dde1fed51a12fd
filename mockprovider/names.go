package mockprovider

// Names returns the name of each rule, as files spell it, and its meaning.
func (Keep) Names() [][2]string {
	return [][2]string{
		KeepNone:   {"none", "a refused request counts nowhere"},
		KeepOthers: {"others", "requests that a later limit, or capacity, refuses stay counted"},
		KeepAll:    {"all", "requests that this limit refuses count too"},
	}
}

// Names returns the name of each unit, as files spell it, and its meaning.
func (Unit) Names() [][2]string {
	return [][2]string{
		Requests:     {"requests", "each request is 1"},
		InputTokens:  {"input_tokens", "tokens of the prompt"},
		OutputTokens: {"output_tokens", "tokens of the answer"},
		AllTokens:    {"all_tokens", "tokens of both"},
	}
}

// Names returns the name of each moment, as files spell it, and its meaning.
func (Moment) Names() [][2]string {
	return [][2]string{
		AtAdmission:  {"at_admission", "the cap that the request states (max), and nothing is given back"},
		Reserved:     {"reserved", "the cap at first, and at the end what was produced in its place"},
		AtCompletion: {"at_completion", "at the end what was produced; requests pass as long as anything is left"},
	}
}

// Names returns the name of each settlement, as files spell it, and its meaning.
func (Settlement) Names() [][2]string {
	return [][2]string{
		AsServed: {"as_served", "the same as a served request"},
		Refunded: {"refunded", "nothing"},
		Produced: {"produced", "the prompt, and the answer as far as it came; a whole request"},
		Whole:    {"whole", "what was, or would have been, charged at admission"},
	}
}

// Names returns the name of each order, as files spell it, and its meaning.
func (Order) Names() [][2]string {
	return [][2]string{
		FIFO:          {"fifo", "first in, first out"},
		LIFO:          {"lifo", "last in, first out"},
		AdaptiveLIFO:  {"adaptive_lifo", "the oldest first while few wait, the newest first while many do"},
		ShortestFirst: {"shortest_first", "the request that takes the least time by its size"},
		UrgentFirst:   {"urgent_first", "by priority, 0 first"},
	}
}

// Names returns the name of each kind, as files spell it, and its meaning.
func (CurveKind) Names() [][2]string {
	return [][2]string{
		Linear:     {"linear", "through points, and constant before and after them"},
		Hyperbolic: {"hyperbolic", "1/(1−load) up to the cap: the time in an M/M/1 queue, in service times"},
		Excess:     {"excess", "1−1/load above load 1, up to the cap: the share that exceeds capacity"},
	}
}

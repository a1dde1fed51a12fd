package strategytest

import "herdlab/mockprovider/wire"

func Targets(n int) (all []wire.Target) {
	for i := range n {
		all = append(all, wire.Target{Region: uint8(i)})
	}
	return all
}

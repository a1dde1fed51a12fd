package strategies

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each runner keeps all fields of its demand and its target, also fields that are added
// later.
func TestARunnerKeepsItsTargetAndDemand(t *testing.T) {
	g := &raced{demand: demandWords}
	var c, got Call
	for _, v := range []reflect.Value{reflect.ValueOf(&c.Demand).Elem(), reflect.ValueOf(&c.Target).Elem()} {
		for i := range v.NumField() {
			v.Field(i).SetUint(1<<(8*v.Field(i).Type().Size()) - 1 - uint64(i))
		}
	}
	words := make([]int64, 1+demandWords)
	g.keep(&c, &words[0], words[1:])
	g.take(&got, words[0], words[1:])
	require.Equal(t, c.Demand, got.Demand)
	require.Equal(t, c.Target, got.Target)
}

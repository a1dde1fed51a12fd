package verdict_test

import (
	"fmt"

	"herdlab/sim/verdict"
	"herdlab/sim/verdict/verdicttest"
)

func ExampleJudge() {
	slow := verdicttest.Drains("slow", 61, 2)
	quick := verdicttest.Drains("quick", 56, 0.6)
	naive := verdicttest.WithPeak(verdicttest.Drains("naive", 20, 0), 1086)
	result := verdicttest.Result(verdicttest.Outage(), verdicttest.Seeds(1, 20), slow, quick, naive)

	facts := verdict.Judge(result, verdict.Rules{}, nil, nil)
	fmt.Println("winner:", facts.Winner.Name)
	fmt.Println("lead over", facts.RunnerUp.Name, "is", facts.Lead.Standing)
	fmt.Println("naive is fit:", facts.Find("naive").Fitness.Answer() == verdict.Fit)
	// Output:
	// winner: quick
	// lead over slow is better
	// naive is fit: false
}

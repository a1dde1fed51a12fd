package layers

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// GRPCBudget is the retry throttling of gRPC: a count of tokens between 0 and
// MaxTokens, which each failed attempt, the first of a call included, lowers by one
// and each success raises by a fraction. While the count is half of MaxTokens or
// less, nothing is retried. Above a failure rate of ratio/(1 + ratio), 9 % at 0.1,
// retries stop completely; clients then only make first attempts.
//
// Use it as the simplest protection from retry storms: it needs no clock, and a
// good hour saves at most MaxTokens/2 retries. A client with little traffic takes
// long to earn them back. (gRFC A6; grpc-go 1.85.)
type GRPCBudget struct {
	// MaxTokens is the size of the bucket, 1 to 1000; it starts full. The example
	// in gRPC's documentation is 10.
	MaxTokens int `unit:"tokens" most:"1000" required:"10" about:"How many tokens the bucket holds; it starts full, each failure takes one, and retries stop below half."`
	// Ratio is what a success adds, in thousandths of a token, 1 to 1000·MaxTokens:
	// 100 is gRPC's 0.1. Thousandths are exact integers, sums of 0.1 are not exact.
	Ratio int `unit:"thousandths" required:"100" about:"How much of a token each success adds."`
	// Counts is the set of failures that cost a token; the empty set means
	// Transient. A failure that the provider marks as not to be retried also costs
	// one; the failure of a response that has begun costs none.
	Counts strategies.Classes `without:"the transient classes" about:"Which failures take a token."`
	// Scope sets which clients share the budget, PerClient or wider. Name
	// identifies a budget with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (g GRPCBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if g.MaxTokens < 1 || g.MaxTokens > 1000 || g.Ratio < 1 || g.Ratio > 1000*g.MaxTokens {
		return nil, fmt.Errorf("grpc budget: max_tokens must be 1 to 1000 and ratio 1 to 1000·max_tokens, not %d and %d", g.MaxTokens, g.Ratio)
	}
	g.Counts = g.Counts.Or(strategies.Transient)
	missing, err := b.ReserveShared(g.Scope, 1, "grpc budget", g.Name, fmt.Sprintf("%+v", g))
	if err != nil {
		return nil, fmt.Errorf("grpc budget: %w", err)
	}
	return withBudget(b, &grpcBudget{GRPCBudget: g, missing: missing}, inner)
}

// grpcBudget stores what is missing from a full bucket, so that zeroed memory is a
// full one.
type grpcBudget struct {
	unmoved
	GRPCBudget
	missing strategies.Slot // in thousandths of a token
}

const oneToken = 1000

// allow charges nothing, because a token is taken by a failure and not by a retry.
func (g *grpcBudget) allow(_ time.Duration, c *strategies.Call, _ wire.Class) (int64, bool) {
	return 0, 2**c.Word(g.missing, 0) < int64(g.MaxTokens)*oneToken
}

func (g *grpcBudget) ended(c *strategies.Call, o *wire.Outcome, _ int64) {
	missing := c.Word(g.missing, 0)
	switch {
	case o.OK():
		*missing = max(0, *missing-int64(g.Ratio))
	case o.Begun:
	case g.Counts.Has(o.Class) || o.Marks&wire.ShouldNotRetry != 0:
		*missing = min(int64(g.MaxTokens)*oneToken, *missing+oneToken)
	}
}

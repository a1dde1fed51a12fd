package main

import (
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

// acme returns the dialect of a gateway that answers every request with HTTP 200 and
// reports errors by a code in the body.
func acme() dialect.Dialect {
	d := dialect.CodeInBody{
		Name: "acme", Path: "/acme/v1/generate",
		Code: "status", Message: "detail", Data: "result", RetryAfter: "wait",
	}
	d.Replies[wire.Rate] = dialect.CodeReply{Code: 4290, Text: "slow down"}
	return d.Dialect()
}

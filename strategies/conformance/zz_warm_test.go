package conformance

import (
	_ "github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	_ "google.golang.org/genai"
	_ "google.golang.org/grpc"
	_ "google.golang.org/grpc/test/bufconn"
	_ "pgregory.net/rapid"
	_ "herdlab/strategies/live"
)

package conformance

import (
	"context"
	"net"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// a6 is the example of gRFC A6, as a service config.
const a6 = `{
	"methodConfig": [{
		"name": [{}],
		"retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}
	}],
	"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
}`

// codeOf returns the gRPC code of a class.
var codeOf = map[wire.Class]codes.Code{
	wire.Overloaded: codes.Unavailable, wire.Rate: codes.ResourceExhausted, wire.ServerError: codes.Internal,
	wire.BadRequest: codes.InvalidArgument, wire.Auth: codes.Unauthenticated,
}

// over runs a script with a real gRPC channel and a real server: replies are statuses,
// and their hints and x-should-retry are the server's pushback.
func (d *script) over(t *testing.T) *runResult {
	l := &runResult{}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(startTime))
		listener := bufconn.Listen(1 << 16)
		server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
			a := d.replies[min(len(l.sent), len(d.replies)-1)]
			l.sent = append(l.sent, time.Since(startTime))
			time.Sleep(a.after)
			l.answered = append(l.answered, time.Since(startTime))
			l.received = append(l.received, a.reply)
			if a.reply.Status == 200 {
				if err := s.SendMsg(&emptypb.Empty{}); err != nil || a.reply.Body == wire.Completion {
					return err
				}
			}
			switch {
			case a.reply.Marks&wire.ShouldNotRetry != 0:
				s.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", "-1"))
			case a.reply.Hint.Value != wire.NoHint:
				s.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", strconv.FormatInt(a.reply.Hint.Value.Milliseconds(), 10)))
			}
			return status.Error(codeOf[a.reply.Shown], "no")
		}))
		go func() { _ = server.Serve(listener) }()
		defer server.Stop()
		conn, err := grpc.NewClient("passthrough:///herd", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(a6),
			grpc.WithContextDialer(dial(listener)))
		require.NoError(t, err)
		defer conn.Close()
		for _, pause := range d.pauses {
			time.Sleep(pause)
			before := len(l.sent)
			err := conn.Invoke(context.Background(), "/herd.Herd/Ask", &emptypb.Empty{}, &emptypb.Empty{})
			l.calls = append(l.calls, call{len(l.sent) - before, err == nil})
		}
	})
	return l
}

// The preset of gRPC makes the same decisions as grpc-go for the same statuses and
// pushbacks, also with its tokens.
func TestGRPC(t *testing.T) {
	def := definition(t, "grpc")
	rapid.Check(t, func(r *rapid.T) {
		d := &script{dialect: "openai", stream: true} // a response may begin and then fail
		for range rapid.IntRange(1, 12).Draw(r, "calls") {
			d.pauses = append(d.pauses, time.Second)
		}
		for range rapid.IntRange(0, 20).Draw(r, "replies") {
			a := scriptedReply{after: 10*ms + 1, reply: wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}}
			class := rapid.SampledFrom([]wire.Class{wire.OK, wire.Overloaded, wire.Overloaded, wire.Overloaded, wire.Rate, wire.ServerError, wire.BadRequest, wire.Auth}).Draw(r, "class")
			switch {
			case class == wire.Overloaded && rapid.IntRange(0, 4).Draw(r, "begun") == 0:
				a.reply.Body, a.reply.Shown = wire.StreamError, class
			case class != wire.OK:
				a.reply = wire.Reply{Status: 503, Class: class, Shown: class, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint, Spelling: wire.HeaderMillis}}
				a.reply.Marks = rapid.SampledFrom([]wire.Marks{0, 0, 0, wire.ShouldNotRetry}).Draw(r, "pushback forbids")
				if a.reply.Marks == 0 && rapid.Bool().Draw(r, "pushback") {
					a.reply.Hint.Value = time.Duration(rapid.IntRange(0, 3000).Draw(r, "ms")) * ms
				}
			}
			d.replies = append(d.replies, a)
		}
		d.replies = append(d.replies, scriptedReply{after: 10 * ms, reply: wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}})
		real := d.over(t)
		model := d.run(t, preset(r, "grpc", d.dialect, rapid.Uint64Min(1).Draw(r, "seed")))
		require.Equal(r, real.calls, model.calls, "calls over gRPC and of the preset; told\n%+v", real.received)
		real.obeys(r, &def, "grpc-go")
		model.obeys(r, &def, "the preset")
	})
}

func dial(l *bufconn.Listener) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }
}

// After the bucket is empty, a failure is retried again only after 61 successes: these
// return 6.1 tokens, the failure takes one, and more than 5 must be left.
func TestGRPCTokens(t *testing.T) {
	well := scriptedReply{after: 10 * ms, reply: wire.Reply{Status: 200, Hint: wire.Hint{Value: wire.NoHint}, Tokens: 3}}
	for successes, want := range map[int]int{60: 1, 61: 2} {
		d := steadyScript("openai", 10+successes+1, time.Second, busy)
		// The first call makes four attempts, the others one.
		d.replies = append(slices.Repeat([]scriptedReply{busy}, 4+9), slices.Repeat([]scriptedReply{well}, successes)...)
		d.replies = append(d.replies, busy)
		real, model := d.over(t), d.run(t, preset(t, "grpc", d.dialect, 1))
		require.Equal(t, real.calls, model.calls)
		require.Equal(t, want, real.calls[10+successes].Attempts)
		require.True(t, real.calls[9+successes].OK)
		require.False(t, real.calls[9].OK)
	}
}

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

// codeOf is the code of a class.
var codeOf = map[wire.Class]codes.Code{
	wire.Overloaded: codes.Unavailable, wire.Rate: codes.ResourceExhausted, wire.ServerError: codes.Internal,
	wire.BadRequest: codes.InvalidArgument, wire.Auth: codes.Unauthenticated,
}

// over performs a drama with a real gRPC channel and a real server: replies are
// statuses, their hints and x-should-retry the server's pushback.
func (d *drama) over(t *testing.T) *life {
	l := &life{}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(morning))
		listener := bufconn.Listen(1 << 16)
		server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
			a := d.acts[min(len(l.sent), len(d.acts)-1)]
			l.sent = append(l.sent, time.Since(morning))
			time.Sleep(a.after)
			l.answered = append(l.answered, time.Since(morning))
			l.told = append(l.told, a.reply)
			if a.reply.Status == 200 {
				if err := s.SendMsg(&emptypb.Empty{}); err != nil || a.reply.Body == wire.Completion {
					return err
				}
			}
			switch {
			case a.reply.Marks&wire.SaysStop != 0:
				s.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", "-1"))
			case a.reply.RetryAfter != wire.NoHint:
				s.SetTrailer(metadata.Pairs("grpc-retry-pushback-ms", strconv.FormatInt(a.reply.RetryAfter.Milliseconds(), 10)))
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

// The preset of gRPC decides as grpc-go does about the same statuses and
// pushbacks, with its tokens too.
func TestGRPC(t *testing.T) {
	def := definition(t, "grpc")
	rapid.Check(t, func(r *rapid.T) {
		d := &drama{speak: "openai", stream: true} // a response may begin and then fail
		for range rapid.IntRange(1, 12).Draw(r, "calls") {
			d.pauses = append(d.pauses, time.Second)
		}
		for range rapid.IntRange(0, 20).Draw(r, "replies") {
			a := act{after: 10*ms + 1, reply: wire.Reply{Status: 200, RetryAfter: wire.NoHint, Tokens: 3}}
			class := rapid.SampledFrom([]wire.Class{wire.OK, wire.Overloaded, wire.Overloaded, wire.Overloaded, wire.Rate, wire.ServerError, wire.BadRequest, wire.Auth}).Draw(r, "class")
			switch {
			case class == wire.Overloaded && rapid.IntRange(0, 4).Draw(r, "begun") == 0:
				a.reply.Body, a.reply.Shown = wire.StreamError, class
			case class != wire.OK:
				a.reply = wire.Reply{Status: 503, Class: class, Shown: class, Body: wire.ErrorBody, RetryAfter: wire.NoHint, Spelled: wire.HeaderMillis}
				a.reply.Marks = rapid.SampledFrom([]wire.Marks{0, 0, 0, wire.SaysStop}).Draw(r, "pushback forbids")
				if a.reply.Marks == 0 && rapid.Bool().Draw(r, "pushback") {
					a.reply.RetryAfter = time.Duration(rapid.IntRange(0, 3000).Draw(r, "ms")) * ms
				}
			}
			d.acts = append(d.acts, a)
		}
		d.acts = append(d.acts, act{after: 10 * ms, reply: wire.Reply{Status: 200, RetryAfter: wire.NoHint, Tokens: 3}})
		real := d.over(t)
		model := d.perform(t, preset(r, "grpc", d.speak, rapid.Uint64Min(1).Draw(r, "seed")))
		require.Equal(r, real.calls, model.calls, "calls over gRPC and of the preset; told\n%+v", real.told)
		real.obeys(r, &def, "grpc-go")
		model.obeys(r, &def, "the preset")
	})
}

func dial(l *bufconn.Listener) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }
}

// From an empty bucket it takes 61 successes until a failure is retried again: 6.1
// tokens, of which the failure takes one, and more than 5 must be left.
func TestGRPCTokens(t *testing.T) {
	well := act{after: 10 * ms, reply: wire.Reply{Status: 200, RetryAfter: wire.NoHint, Tokens: 3}}
	for successes, want := range map[int]int{60: 1, 61: 2} {
		d := steadily("openai", 10+successes+1, time.Second, busy)
		// The first call makes four attempts, the others one.
		d.acts = append(slices.Repeat([]act{busy}, 4+9), slices.Repeat([]act{well}, successes)...)
		d.acts = append(d.acts, busy)
		real, model := d.over(t), d.perform(t, preset(t, "grpc", d.speak, 1))
		require.Equal(t, real.calls, model.calls)
		require.Equal(t, want, real.calls[10+successes].Attempts)
		require.True(t, real.calls[9+successes].OK)
		require.False(t, real.calls[9].OK)
	}
}

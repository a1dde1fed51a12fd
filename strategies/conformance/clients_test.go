package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	bedrock "github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"google.golang.org/genai"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)                               // genai logs every truncated body
	if err := flag.Set("rapid.checks", "500"); err != nil { // the default of this package
		panic(err)
	}
	m.Run()
}

// client is the real code of a preset.
type client struct {
	preset string
	open   func(http.RoundTripper) session
	// dialects are the dialects that the client reads.
	dialects []string
	streams  bool
	// calls is the number of consecutive calls to compare; 3 if 0.
	calls int
	// limits is true if it has a timeout.
	limits bool
}

// clients are the presets whose real code is Go. A library that is not a client of a
// provider is used as in its documentation, around post.
//
// openai and azure write a hint of whole seconds in milliseconds, too. The compact reply
// has room for one spelling and takes the finer one. This does not suit clients that read
// only Retry-After; their providers write only that.
var clients = []client{
	{preset: "openai-go", dialects: []string{"openai", "azure", "codybuddy", "openrouter"}, streams: true, open: sdkSession(0)},
	{preset: "anthropic-go", dialects: []string{"anthropic"}, streams: true, limits: true, open: sdkSession(1)},
	{preset: "google-genai", dialects: []string{"gemini"}, streams: true, open: gemini(nil)},
	{preset: "google-genai-retry", dialects: []string{"gemini"}, streams: true, open: gemini(&genai.HTTPRetryOptions{})},
	{preset: "aws-standard-2026", dialects: []string{"bedrock"}, calls: 8, open: func(rt http.RoundTripper) session {
		c := bedrockruntime.New(bedrockruntime.Options{
			Region: "us-east-1", BaseEndpoint: aws.String("http://herd.test"), HTTPClient: &http.Client{Transport: rt},
			Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		})
		return func(ctx context.Context, _ bool) error {
			_, err := c.Converse(ctx, &bedrockruntime.ConverseInput{
				ModelId: aws.String("m"),
				Messages: []bedrock.Message{{
					Role: bedrock.ConversationRoleUser, Content: []bedrock.ContentBlock{&bedrock.ContentBlockMemberText{Value: "hi"}},
				}},
			})
			return err
		}
	}},
	{preset: "go-retryablehttp", dialects: []string{"anthropic", "codybuddy", "openrouter"}, open: func(rt http.RoundTripper) session {
		c := retryablehttp.NewClient()
		c.Logger, c.HTTPClient = nil, &http.Client{Transport: rt}
		return func(ctx context.Context, _ bool) error {
			r, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader("{}"))
			if err != nil {
				return err
			}
			resp, err := c.Do(r)
			if err != nil {
				return err
			}
			return understand(resp)
		}
	}},
	{preset: "cenkalti-backoff", dialects: []string{"anthropic", "codybuddy", "openrouter"}, open: func(rt http.RoundTripper) session {
		return func(ctx context.Context, _ bool) error {
			_, err := backoff.Retry(ctx, func() (int, error) { return 0, hinted(post(ctx, rt)) })
			return err
		}
	}},
	{preset: "failsafe-go", dialects: []string{"openai", "codybuddy"}, open: func(rt http.RoundTripper) session {
		policy := failsafe.With(retrypolicy.NewWithDefaults[any]())
		return func(ctx context.Context, _ bool) error {
			return policy.WithContext(ctx).Run(func() error { return post(ctx, rt) })
		}
	}},
	{preset: "gobreaker", dialects: []string{"openai", "codybuddy"}, calls: 20, open: func(rt http.RoundTripper) session {
		b := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
		return func(ctx context.Context, _ bool) error {
			_, err := b.Execute(func() (int, error) { return 0, post(ctx, rt) })
			return err
		}
	}},
	{preset: "x-time-rate", dialects: []string{"openai", "codybuddy"}, calls: 20, open: func(rt http.RoundTripper) session {
		l := rate.NewLimiter(20, 5)
		return func(ctx context.Context, _ bool) error {
			if err := l.Wait(ctx); err != nil {
				return err
			}
			return post(ctx, rt)
		}
	}},
}

func clientOf(t *testing.T, preset string) *client {
	i := slices.IndexFunc(clients, func(c client) bool { return c.preset == preset })
	require.GreaterOrEqual(t, i, 0, preset)
	return &clients[i]
}

// sdkSession is a session of an SDK without memory: it makes a client for each call.
func sdkSession(i int) func(http.RoundTripper) session {
	return func(rt http.RoundTripper) session {
		return func(ctx context.Context, stream bool) error {
			if stream {
				return sdks[i].stream(ctx, rt)
			}
			return sdks[i].call(ctx, rt)
		}
	}
}

func gemini(retry *genai.HTTPRetryOptions) func(http.RoundTripper) session {
	return func(rt http.RoundTripper) session {
		c, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: rt},
			HTTPOptions: genai.HTTPOptions{BaseURL: "http://herd.test", RetryOptions: retry},
		})
		return func(ctx context.Context, stream bool) error {
			if err != nil {
				return err
			}
			if !stream {
				_, err := c.Models.GenerateContent(ctx, "m", genai.Text("hi"), nil)
				return err
			}
			for _, err := range c.Models.GenerateContentStream(ctx, "m", genai.Text("hi"), nil) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// refused is the error for an error status.
type refused struct {
	status int
	header http.Header
}

func (r *refused) Error() string { return fmt.Sprintf("status %d", r.status) }

// post sends one request. A body that is not JSON with a status below 400 is an error.
func post(ctx context.Context, rt http.RoundTripper) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://herd.test/v1/chat/completions", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return err
	}
	return understand(resp)
}

func understand(resp *http.Response) error {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode >= 400 {
		return &refused{resp.StatusCode, resp.Header}
	}
	if err != nil {
		return err
	}
	var first json.RawMessage
	return json.NewDecoder(strings.NewReader(string(text))).Decode(&first)
}

// hinted returns a backoff.RetryAfterError for a refusal with a Retry-After, as in the
// documentation of cenkalti/backoff.
func hinted(err error) error {
	var r *refused
	if !errors.As(err, &r) {
		return err
	}
	after := r.header.Get("Retry-After")
	if s, err := strconv.ParseInt(after, 10, 64); err == nil {
		return backoff.RetryAfter(int(s))
	}
	if at, err := http.ParseTime(after); err == nil {
		return &backoff.RetryAfterError{Duration: max(0, time.Until(at))}
	}
	return err
}

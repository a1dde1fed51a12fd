package conformance

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
)

// sdk is a client library with its default settings: call makes one call over a transport
// and returns the error of the library.
type sdk struct {
	name   string
	call   func(context.Context, http.RoundTripper) error
	stream func(context.Context, http.RoundTripper) error
	// good is a successful body, stream a successful stream.
	good, goodStream string
	// failing is a stream that fails after a token, silent one without a finish marker.
	failing, silent string
}

var sdks = []sdk{
	{
		name: "openai-go",
		call: func(ctx context.Context, rt http.RoundTripper) error {
			client := openAI(rt)
			_, err := client.Chat.Completions.New(ctx, openAIParams())
			return err
		},
		stream: func(ctx context.Context, rt http.RoundTripper) error {
			client := openAI(rt)
			s := client.Chat.Completions.NewStreaming(ctx, openAIParams())
			defer s.Close()
			for s.Next() {
			}
			return s.Err()
		},
		good: `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		goodStream: `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
		failing: `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n" +
			`data: {"error":{"message":"The server is overloaded","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}` + "\n\n",
		silent: `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n",
	},
	{
		name: "anthropic-go",
		call: func(ctx context.Context, rt http.RoundTripper) error {
			client := claude(rt)
			_, err := client.Messages.New(ctx, claudeParams())
			return err
		},
		stream: func(ctx context.Context, rt http.RoundTripper) error {
			client := claude(rt)
			s := client.Messages.NewStreaming(ctx, claudeParams())
			defer s.Close()
			for s.Next() {
			}
			return s.Err()
		},
		good: `{"id":"msg","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
		goodStream: claudeHead + "event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}` +
			"\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		failing: claudeHead + "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n",
		silent:  claudeHead,
	},
}

const claudeHead = "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n" +
	"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
	"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}` + "\n\n"

func openAI(rt http.RoundTripper) openai.Client {
	return openai.NewClient(openaioption.WithAPIKey("key"), openaioption.WithBaseURL("http://herd.test/v1"), openaioption.WithHTTPClient(&http.Client{Transport: rt}))
}

func openAIParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}}
}

func claude(rt http.RoundTripper) anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithAPIKey("key"), anthropicoption.WithBaseURL("http://herd.test"), anthropicoption.WithHTTPClient(&http.Client{Transport: rt}))
}

func claudeParams() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "m", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	}
}

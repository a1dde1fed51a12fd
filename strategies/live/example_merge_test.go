package live_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/live"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chat struct {
	Model     string    `json:"model"`
	Messages  []message `json:"messages"`
	MaxTokens int       `json:"max_tokens"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      message `json:"message"`
	FinishReason string  `json:"finish_reason"`
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
}

// joinQuestions makes one request of several single questions: a numbered list, to
// be answered in one line each.
func joinQuestions(_ *http.Request, bodies [][]byte) ([]byte, error) {
	var all chat
	var list strings.Builder
	for i, body := range bodies {
		var one chat
		if err := json.Unmarshal(body, &one); err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		if len(one.Messages) != 1 {
			return nil, fmt.Errorf("question %d: has %d messages; only single ones can be joined", i+1, len(one.Messages))
		}
		all.Model = one.Model
		all.MaxTokens += one.MaxTokens
		fmt.Fprintf(&list, "%d. %s\n", i+1, one.Messages[0].Content)
	}
	all.Messages = []message{
		{"system", "Answer each question in a line of its own that begins with its number."},
		{"user", list.String()},
	}
	return json.Marshal(all)
}

// splitAnswers gives each question its line of the answer and an equal share of the
// tokens.
func splitAnswers(_ *http.Response, body []byte, n int) ([][]byte, error) {
	var all completion
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	if len(all.Choices) != 1 {
		return nil, fmt.Errorf("there are %d choices instead of one", len(all.Choices))
	}
	lines := strings.Split(strings.TrimSpace(all.Choices[0].Message.Content), "\n")
	if len(lines) != n {
		return nil, fmt.Errorf("there are %d lines for %d questions", len(lines), n)
	}
	parts := make([][]byte, n)
	for i, line := range lines {
		text, ok := strings.CutPrefix(line, fmt.Sprintf("%d. ", i+1))
		if !ok {
			return nil, fmt.Errorf("line %d does not begin with its number", i+1)
		}
		one := all
		one.Choices = []choice{{Message: message{"assistant", text}, FinishReason: all.Choices[0].FinishReason}}
		one.Usage.Prompt, one.Usage.Completion, one.Usage.Total = all.Usage.Prompt/n, all.Usage.Completion/n, all.Usage.Total/n
		var err error
		if parts[i], err = json.Marshal(one); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// squares is a model that answers lists of questions for squares.
type squares struct{ requests int }

// RoundTrip implements http.RoundTripper.
func (s *squares) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	s.requests++
	var asked chat
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	var answer strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(asked.Messages[1].Content), "\n") {
		var number, x int
		if _, err := fmt.Sscanf(line, "%d. What is the square of %d?", &number, &x); err != nil {
			return nil, err
		}
		fmt.Fprintf(&answer, "%d. The square of %d is %d.\n", number, x, x*x)
	}
	all := completion{ID: "c-1", Object: "chat.completion", Model: asked.Model}
	all.Choices = []choice{{Message: message{"assistant", answer.String()}, FinishReason: "stop"}}
	body, err := json.Marshal(all)
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}, err
}

// Ten simultaneous questions are sent as one request, and each caller gets its own
// answer. This saves nine requests where the provider limits their number.
func ExampleConfig_merge() {
	model := &squares{}
	transport := live.Must(live.Config{
		Base: model,
		Strategy: strategies.Definition{Name: "ten-to-one", Layers: []strategies.Layer{
			layers.Merge{Size: 10, Window: time.Minute, Scope: strategies.PerFleet},
			layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: 6},
		}},
		JoinRequests: joinQuestions, SplitReply: splitAnswers,
	})
	defer transport.Close()
	client := &http.Client{Transport: transport}

	answers := make([]string, 10)
	var callers sync.WaitGroup
	for i := range answers {
		callers.Go(func() {
			question := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"What is the square of %d?"}],"max_tokens":20}`, i)
			resp, err := client.Post("http://api.example.com/v1/chat/completions", "application/json", strings.NewReader(question))
			if err != nil {
				panic(err)
			}
			defer resp.Body.Close()
			var got completion
			if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
				panic(err)
			}
			answers[i] = got.Choices[0].Message.Content
		})
	}
	callers.Wait()
	fmt.Println(strings.Join(answers, "\n"))
	fmt.Println(model.requests, "request")
	// Output:
	// The square of 0 is 0.
	// The square of 1 is 1.
	// The square of 2 is 4.
	// The square of 3 is 9.
	// The square of 4 is 16.
	// The square of 5 is 25.
	// The square of 6 is 36.
	// The square of 7 is 49.
	// The square of 8 is 64.
	// The square of 9 is 81.
	// 1 request
}

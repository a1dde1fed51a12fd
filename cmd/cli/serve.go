package cli

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/serve"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen, admin  string
	token          string
	seed           uint64
	scale          float64
	keys           []string
	tenants        int
	outputTokens   uint32
	accessLog      string
	maxConnections int
	grace          time.Duration
	all            bool
}

func (o *serveOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "serve the API at `ADDRESS`; port 0 is a free port")
	f.StringVar(&o.admin, "admin", "127.0.0.1:8081", "serve the admin API and the live page at `ADDRESS`")
	f.StringVar(&o.token, "admin-token", "", "the `TOKEN` that the admin API requires; random by default")
	f.Uint64Var(&o.seed, "seed", 1, "`SEED` of the provider's random draws")
	f.Float64Var(&o.scale, "time-scale", 1, "run the provider's clock at `X` × real time")
	f.StringArrayVar(&o.keys, "key", nil, "give an API key an account, `KEY=ACCOUNT`, such as sk-team=0, or an account and the number of the key in it, sk-team=0/1; can be repeated")
	f.IntVar(&o.tenants, "tenants", 1000, "give `N` other keys an account each; with 0 other keys are rejected")
	f.Uint32Var(&o.outputTokens, "output-tokens", 100, "output `TOKENS` of an answer, if max_tokens allows")
	f.StringVar(&o.accessLog, "access-log", "", "append a line of JSON for each request to `FILE`; compare trace-replay can read it")
	f.IntVar(&o.maxConnections, "max-connections", 16384, "serve at most `N` connections at a time")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "give accepted requests `TIME` to finish after an interrupt")
	f.BoolVar(&o.all, "all", false, "print an example in every dialect, not only in three")
}

func (c *console) serve() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [SCENARIO]",
		Short: "Serve the provider of a scenario over HTTP",
		Long: `Serve the provider of a scenario to real HTTP clients, in the dialects of the
hosted models and in the dialect that the scenario describes. The provider
decides with the same code as in the simulator, and the faults of the scenario
happen at their times after the start.

SCENARIO is the name of a built-in scenario, a file, or - for standard input.
Without one, the provider is that of a small hosted model: 60 requests a minute
and 8 in flight for each API key, and 32 slots in all.

The admin API, a live page and Prometheus metrics are served on a second port
and require a token. After an interrupt, accepted requests can finish; the exit
code is then 130.`,
		Example: `  herdlab serve
  herdlab serve p14003 --listen 127.0.0.1:9000
  herdlab serve my.yaml --time-scale 60 --access-log calls.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return c.runServe(cmd.Context(), name, &o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return scenarioNames(), cobra.ShellCompDirectiveDefault
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

// serveConfig is the configuration of the server, and the name of the scenario's
// dialect, "" if it has none.
type serveConfig struct {
	serve.Config
	own string
}

// serveConfig returns the configuration for a scenario and options. Its errors are
// about invalid input.
func (c *console) serveConfig(name string, o *serveOptions) (*serveConfig, error) {
	cfg := &serveConfig{Config: serve.Config{
		Provider: serve.Default(), Title: "A small hosted model", Seed: o.seed, TimeScale: o.scale,
		Tenants: o.tenants, OutputTokens: o.outputTokens, MaxConnections: o.maxConnections, Grace: o.grace,
		ErrorLog: log.New(c.stderr, "herdlab: ", 0), Parser: c.format.Words(), Dialects: c.format.Dialects(),
	}}
	switch {
	case !(o.scale > 0):
		return cfg, fmt.Errorf("--time-scale is %v; it must be positive: with 60, a second is a minute", o.scale)
	case o.tenants < 0:
		return cfg, fmt.Errorf("--tenants is %d; it must not be negative", o.tenants)
	case o.tenants == 0:
		cfg.Tenants = -1
	}
	for _, text := range o.keys {
		k, err := parseKey(text)
		if err != nil {
			return cfg, fmt.Errorf("--key: %w", err)
		}
		cfg.Keys = append(cfg.Keys, k)
	}
	if name == "" {
		return cfg, nil
	}
	s, err := c.openScenario(name)
	if err != nil {
		return cfg, err
	}
	cfg.Provider, cfg.Title = s.Provider(), s.Name()+": "+s.Title()
	cfg.Parser, cfg.Models, cfg.Regions = s.Words(), s.Models(), s.Regions()
	cfg.Provider.Accounts, cfg.Provider.Addresses = 0, 0 // their number follows from the clients
	if d, ok := s.Dialect(); ok {
		cfg.own = d.Name
		_, known := dialect.ByName(d.Name)
		if !known && !slices.ContainsFunc(cfg.Dialects, func(o dialect.Dialect) bool { return o.Name == d.Name }) {
			cfg.Dialects = append(cfg.Dialects, d)
		}
	}
	return cfg, nil
}

// parseKey reads KEY=ACCOUNT or KEY=ACCOUNT/INDEX.
func parseKey(text string) (k serve.Key, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return k, fmt.Errorf("%q has no account; write KEY=ACCOUNT, such as sk-team=0", clip(text, 40))
	}
	account, index, _ := strings.Cut(text[at+1:], "/")
	n, err := strconv.ParseUint(account, 10, 20)
	var i uint64
	if index != "" && err == nil {
		i, err = strconv.ParseUint(index, 10, 8)
	}
	if err != nil {
		return k, fmt.Errorf("%q is not an account; write KEY=ACCOUNT or KEY=ACCOUNT/INDEX with whole numbers, such as sk-team=0/1", clip(text[at+1:], 40))
	}
	return serve.Key{Secret: text[:at], Account: uint32(n), Index: uint8(i)}, nil
}

func (c *console) runServe(ctx context.Context, name string, o *serveOptions) error {
	cfg, err := c.serveConfig(name, o)
	if err != nil {
		return invalid(err)
	}
	if o.accessLog != "" {
		f, err := os.OpenFile(o.accessLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return invalid(fmt.Errorf("--access-log: %w", err))
		}
		defer f.Close()
		cfg.AccessLog = f
	}
	s, err := serve.New(cfg.Config)
	if err != nil {
		return invalid(err)
	}
	api, err := net.Listen("tcp", o.listen)
	if err != nil {
		return invalid(fmt.Errorf("--listen: %w", err))
	}
	defer api.Close()
	admin, err := net.Listen("tcp", o.admin)
	if err != nil {
		return invalid(fmt.Errorf("--admin: %w", err))
	}
	defer admin.Close()
	token := o.token
	if token == "" {
		token = serve.NewToken()
	}
	for _, l := range []net.Listener{api, admin} {
		if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
			c.advise(fmt.Sprintf("herdlab: %s can be reached from other machines", a))
		}
	}
	w := serveText{cfg, api.Addr().String(), admin.Addr().String(), token, o}
	if err := c.print(w.text()); err != nil {
		return err
	}
	return c.serveUntil(ctx, s, api, admin, token)
}

// serveUntil serves until an interrupt, a request to end, or a failure.
func (c *console) serveUntil(ctx context.Context, s *serve.Server, api, admin net.Listener, token string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	noted := make(chan struct{})
	interrupted := context.AfterFunc(ctx, func() {
		defer close(noted)
		c.note(fmt.Sprintf("herdlab: finishing %s", count(s.State().InFlight, "request")))
	})
	defer func() {
		if !interrupted() {
			<-noted
		}
	}()
	// The admin API ends after the last request, so that users can watch it finish.
	admins, close := context.WithCancel(context.WithoutCancel(ctx))
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() {
		defer close()
		failed[0] = s.Serve(ctx, api)
	})
	both.Go(func() {
		defer cancel()
		failed[1] = s.ServeAdmin(admins, admin, token)
	})
	both.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		return internal(err)
	}
	return errInterrupted
}

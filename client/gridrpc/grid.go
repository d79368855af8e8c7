package gridrpc

import (
	"cmp"
	"context"
	"os"
	"sync"

	"github.com/seed-9b8f70bb/drover/client"
)

// Grid is a grid as the GridRPC standard (GFD-R.52) sees it: handles of its functions,
// and the sessions of calls to them. It uses a client.Client, which can be used beside
// it. The zero Grid is not initialized.
//
//	Initialize ─▶ Grid ── Handle, HandleAt ──▶ Handle ── Call ───────▶ done
//	               │                             └────── CallAsync ──▶ Session
//	               └── Probe…, Wait…, Cancel…, FailedSession ──────────────┘
//
// Every error is a *CodeError with a code of the standard.
type Grid struct {
	client *client.Client
	own    bool            // Finalize closes the client
	ended  context.Context // ends with Finalize
	end    context.CancelCauseFunc

	mu    sync.Mutex
	final bool           // guarded by mu
	calls sync.WaitGroup // under way; added to under mu, while not final
	list  sessions       // guarded by mu
}

// Initialize returns the grid of a configuration file. An empty path means the grid of
// the environment, as in client.Environment. It opens no connection yet.
//
// The codes are ConfigfileNotFound and ConfigfileError.
func Initialize(path string, opts ...client.Option) (*Grid, error) {
	read := func() (client.Config, error) { return client.Environment(os.Getenv) }
	if path != "" {
		read = func() (client.Config, error) { return client.ReadConfig(path) }
	}
	cfg, err := read()
	if err != nil {
		return nil, coded(err, nil)
	}
	return initialize(cfg, opts)
}

// InitializeAgents returns the grid of these agents, the preferred one first. The code
// is ConfigfileError for an invalid URL.
func InitializeAgents(agents []string, opts ...client.Option) (*Grid, error) {
	return initialize(client.Default(agents...), opts)
}

func initialize(cfg client.Config, opts []client.Option) (*Grid, error) {
	cfg.Owner = cmp.Or(cfg.Owner, os.Getenv("USER"))
	c, err := client.New(cfg, opts...)
	if err != nil {
		return nil, &CodeError{Code: ConfigfileError, Err: err}
	}
	g := NewGrid(c)
	g.own = true
	return g, nil
}

// NewGrid returns the grid of a client. Finalize leaves the client open.
func NewGrid(c *client.Client) *Grid {
	g := &Grid{client: c}
	g.ended, g.end = context.WithCancelCause(context.Background())
	return g
}

// Client returns the client, for what the standard lacks: logs, decisions, lists, moves.
func (g *Grid) Client() *client.Client { return g.client }

// Finalize ends the calls under way with NotInitialized, and returns when they have
// ended. Jobs continue, and can be found by their IDs. The second call returns
// NotInitialized.
func (g *Grid) Finalize() error {
	if !g.initialized() {
		return &CodeError{Code: NotInitialized}
	}
	g.mu.Lock()
	again := g.final
	g.final = true
	g.mu.Unlock()
	if again {
		return &CodeError{Code: NotInitialized}
	}
	g.end(&CodeError{Code: NotInitialized})
	g.calls.Wait()
	if g.own {
		g.client.Close()
	}
	return nil
}

func (g *Grid) initialized() bool { return g != nil && g.client != nil }

// enter begins a call, which leave ends. Its context ends with the grid too.
func (g *Grid) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	if !g.initialized() {
		return nil, nil, &CodeError{Code: NotInitialized}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.final {
		return nil, nil, &CodeError{Code: NotInitialized}
	}
	g.calls.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(g.ended, func() { cancel(context.Cause(g.ended)) })
	return ctx, func() {
		detach()
		cancel(nil)
		g.calls.Done()
	}, nil
}

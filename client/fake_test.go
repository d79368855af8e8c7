package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"

	"github.com/seed-9b8f70bb/drover/client/rpc"

	"connectrpc.com/connect"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 { // the servers of live_test.go start this binary as their program
		switch os.Args[1] {
		case "gate":
			process.Gate()
		case "supervise":
			supervise(os.Args[2:])
		}
	}
	goleak.VerifyTestMain(m)
}

// network is a network of pipes, so that calls work in virtual time.
type network struct {
	mu    sync.Mutex
	hosts map[string]*pipes // by host:port
}

// pipes is the listener of one host.
type pipes struct {
	host   string
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	mu     sync.Mutex
	open   []net.Conn
}

// cut breaks all connections.
func (p *pipes) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: p.host, Net: "pipe"} }

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	p := n.hosts[address]
	n.mu.Unlock()
	if p == nil {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		p.mu.Lock()
		p.open = append(p.open, here)
		p.mu.Unlock()
		return here, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve puts a handler on a host until the test ends. If files is set, it serves plain
// HTTP there.
func (n *network) serve(t *testing.T, host string, path string, h http.Handler, files ...http.Handler) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	mux := http.NewServeMux()
	mux.Handle(path, h)
	for _, f := range files {
		mux.Handle("/v1/", f)
	}
	p := &pipes{host: host, conns: make(chan net.Conn), closed: make(chan struct{})}
	s := &http.Server{Handler: mux, Protocols: &protocols}
	n.mu.Lock()
	n.hosts[host+":80"] = p
	n.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(p) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
}

// world is a grid of fakes: one agent, and servers a and b that it ranks.
type world struct {
	net   *network
	agent *fakeAgent
	a, b  *fakeServer
}

// newWorld returns a grid and a client of it. It is called in a bubble.
func newWorld(t *testing.T, cfg Config) (*world, *Client) {
	w := &world{net: &network{hosts: make(map[string]*pipes)}, agent: &fakeAgent{}, a: &fakeServer{name: "a"}, b: &fakeServer{name: "b"}}
	w.agent.targets = []*droverv1.Target{{Site: "a", Address: "http://a"}, {Site: "b", Address: "http://b"}}
	path, h := droverv1connect.NewAgentServiceHandler(w.agent)
	w.net.serve(t, "agent", path, h)
	for _, s := range []*fakeServer{w.a, w.b} {
		path, h := droverv1connect.NewServerServiceHandler(s)
		w.net.serve(t, s.name, path, h, s)
	}
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &only, DialContext: w.net.dial}
	if cfg.Agents == nil {
		cfg.Agents = []string{"http://agent"}
	}
	c, err := New(cfg, WithTransport(transport))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return w, c
}

// patient is a configuration with a second for each call.
func patient(d time.Duration) Config {
	return Config{Patience: d, LongPatience: d, CallTimeout: time.Second}
}

// up undoes down.
func (w *world) up(host string, was *pipes) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.hosts[host+":80"] = was
}

// down makes dials to a host fail.
func (w *world) down(host string) (was *pipes) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	was = w.net.hosts[host+":80"]
	delete(w.net.hosts, host+":80")
	return was
}

type fakeAgent struct {
	droverv1connect.UnimplementedAgentServiceHandler
	mu      sync.Mutex
	targets []*droverv1.Target
	mapped  []*droverv1.MapRequest
	found   *droverv1.FindJobResponse
	mapErr  error
	service *droverv1.Service
}

func (f *fakeAgent) Map(_ context.Context, req *droverv1.MapRequest) (*droverv1.MapResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mapped = append(f.mapped, req)
	return &droverv1.MapResponse{Targets: f.targets, Decision: &droverv1.DecisionRecord{Agent: "g", Chosen: "a"}}, f.mapErr
}

func (f *fakeAgent) FindJob(_ context.Context, req *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		return nil, refusal(connect.CodeNotFound, &droverv1.ErrorDetail{Reason: "unknown-job", Message: "no site has job " + req.GetJobId()})
	}
	return f.found, nil
}

func (f *fakeAgent) ListServices(_ context.Context, _ *droverv1.ListServicesRequest) (*droverv1.ListServicesResponse, error) {
	return &droverv1.ListServicesResponse{Services: []*droverv1.OfferedService{{Service: f.service, Sites: []string{"a"}}}}, nil
}

func (f *fakeAgent) ListSites(_ context.Context, req *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	if req.GetPageToken() == "" {
		return &droverv1.ListSitesResponse{Sites: []*droverv1.KnownSite{{Site: &droverv1.Site{Name: "a", Address: "http://a"}}}, NextPageToken: "more"}, nil
	}
	return &droverv1.ListSitesResponse{Sites: []*droverv1.KnownSite{{Site: &droverv1.Site{Name: "b"}}}}, nil
}

// at says that a job is at a server.
func (f *fakeAgent) at(site string, epoch uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = &droverv1.FindJobResponse{Target: &droverv1.Target{Site: site, Address: "http://" + site}, Job: &droverv1.Job{Epoch: epoch}}
}

// fakeServer does what its functions say; one that is nil is unimplemented.
type fakeServer struct {
	droverv1connect.UnimplementedServerServiceHandler
	name     string
	mu       sync.Mutex
	submits  []*droverv1.SubmitRequest
	uploads  map[string]string // content by digest
	refuse   *problem.Problem  // answers uploads
	withdraw func(nth int, id string) (*droverv1.WithdrawResponse, error)
	withdrew []string // IDs
	cancel   func(nth int) (*droverv1.CancelJobResponse, error)
	cancels  []string // IDs
	getJob   func() (*droverv1.GetJobResponse, error)
	submit   func(ctx context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error)
	watch    func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error
	logs     func(req *droverv1.ReadLogsRequest, stream *connect.ServerStream[droverv1.ReadLogsResponse]) error
	// download sends an output from an offset on; after an error the connection breaks.
	download func(argument string, at int64, send func(string)) error
	job      *droverv1.Job
}

func (f *fakeServer) Submit(ctx context.Context, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	f.mu.Lock()
	f.submits = append(f.submits, req)
	n := len(f.submits)
	f.mu.Unlock()
	if f.submit != nil {
		return f.submit(ctx, n, req)
	}
	return f.accept(req), nil
}

func (f *fakeServer) Withdraw(ctx context.Context, req *droverv1.WithdrawRequest) (*droverv1.WithdrawResponse, error) {
	f.mu.Lock()
	f.withdrew = append(f.withdrew, req.GetJobId())
	n := len(f.withdrew)
	f.mu.Unlock()
	if f.withdraw == nil {
		return f.UnimplementedServerServiceHandler.Withdraw(ctx, req)
	}
	return f.withdraw(n, req.GetJobId())
}

func (f *fakeServer) CancelJob(ctx context.Context, req *droverv1.CancelJobRequest) (*droverv1.CancelJobResponse, error) {
	f.mu.Lock()
	f.cancels = append(f.cancels, req.GetJobId())
	n := len(f.cancels)
	f.mu.Unlock()
	if f.cancel == nil {
		return f.UnimplementedServerServiceHandler.CancelJob(ctx, req)
	}
	return f.cancel(n)
}

// withdraws is a server that withdraws whatever it is asked to.
func withdraws(int, string) (*droverv1.WithdrawResponse, error) {
	return &droverv1.WithdrawResponse{Withdrawn: true}, nil
}

// sent returns the submissions that have arrived.
func (f *fakeServer) sent() []*droverv1.SubmitRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.submits)
}

func (f *fakeServer) accept(req *droverv1.SubmitRequest) *droverv1.SubmitResponse {
	return &droverv1.SubmitResponse{Job: &droverv1.Job{Id: req.GetJobId(), Site: f.name, State: droverv1.JobState_JOB_STATE_WAITING}}
}

// ServeHTTP takes uploads and sends outputs.
func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		f.receive(w, r)
		return
	}
	sendFrom(w, r, func(at int64, send func(string)) error { return f.download(path.Base(r.URL.Path), at, send) })
}

func (f *fakeServer) receive(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uploads == nil {
		f.uploads = make(map[string]string)
	}
	f.uploads[path.Base(r.URL.Path)] = string(content)
	if p := f.refuse; p != nil {
		protorpc.Refuse(w, protorpc.Status(p.Reason), p)
	}
}

// sendFrom answers a request for the rest of a file. After an error the connection
// breaks.
func sendFrom(w http.ResponseWriter, r *http.Request, rest func(at int64, send func(string)) error) {
	var at int64
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &at); err == nil {
		w.WriteHeader(http.StatusPartialContent)
	}
	err := rest(at, func(piece string) {
		_, _ = io.WriteString(w, piece)
		_ = http.NewResponseController(w).Flush()
	})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (f *fakeServer) StatContent(context.Context, *droverv1.StatContentRequest) (*droverv1.StatContentResponse, error) {
	return &droverv1.StatContentResponse{}, nil
}

func (f *fakeServer) WatchJob(ctx context.Context, _ *droverv1.WatchJobRequest, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
	return f.watch(ctx, stream)
}

func (f *fakeServer) ReadLogs(_ context.Context, req *droverv1.ReadLogsRequest, stream *connect.ServerStream[droverv1.ReadLogsResponse]) error {
	return f.logs(req, stream)
}

func (f *fakeServer) GetJob(context.Context, *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	if f.getJob != nil {
		return f.getJob()
	}
	return &droverv1.GetJobResponse{Job: f.job}, nil
}

func refusal(code connect.Code, d *droverv1.ErrorDetail) error {
	e := connect.NewError(code, errors.New(d.GetMessage()))
	if detail, err := connect.NewErrorDetail(d); err == nil {
		e.AddDetail(detail)
	}
	return e
}

func (f *fakeAgent) ListJobs(context.Context, *droverv1.AgentServiceListJobsRequest) (*droverv1.AgentServiceListJobsResponse, error) {
	return &droverv1.AgentServiceListJobsResponse{}, nil
}

func (f *fakeAgent) ListMoves(context.Context, *droverv1.AgentServiceListMovesRequest) (*droverv1.AgentServiceListMovesResponse, error) {
	return &droverv1.AgentServiceListMovesResponse{}, nil
}

func (f *fakeAgent) SetDraining(_ context.Context, req *droverv1.AgentServiceSetDrainingRequest) (*droverv1.AgentServiceSetDrainingResponse, error) {
	return &droverv1.AgentServiceSetDrainingResponse{Status: &droverv1.SiteStatus{Waiting: 3, Draining: req.GetDraining()}}, nil
}

// refound is a job as an agent remembers it whose site does not answer.
func refound(j *droverv1.Job) *droverv1.Job {
	j.Id, j.Site, j.State, j.UnknownFor = id, "a", droverv1.JobState_JOB_STATE_RUNNING, durationpb.New(time.Minute)
	return j
}

// cut makes dials to a host fail, and breaks the connections to it.
func (w *world) cut(host string) (was *pipes) {
	was = w.down(host)
	was.cut()
	return was
}

// serveAgent replaces the agent.
func (w *world) serveAgent(t *testing.T, a droverv1connect.AgentServiceHandler) {
	path, h := droverv1connect.NewAgentServiceHandler(a)
	w.net.serve(t, "agent", path, h)
}

// jobOf returns a job as if it had been received.
func jobOf(m *droverv1.Job) *Job {
	j := new(Job)
	rpc.From(m).Decode(j)
	return j
}

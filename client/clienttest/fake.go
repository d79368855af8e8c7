// Package clienttest has fakes of agents and servers for the tests of package client
// and of packages on top of it. They are connected by pipes, so that a test runs in
// virtual time (testing/synctest).
package clienttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// ID is that of a job.
const ID = "01a1fddd-b7ba-7e51-8bf0-783efd4419a7"

// Network is a network of pipes, so that calls work in virtual time.
type Network struct {
	mu    sync.Mutex
	hosts map[string]*Pipes // by host:port
}

// Pipes is the listener of one host.
type Pipes struct {
	host   string
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	mu     sync.Mutex
	open   []net.Conn
}

// Cut breaks all connections.
func (p *Pipes) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

// Accept answers the call.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close answers the call.
func (p *Pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

// Addr answers the call.
func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: p.host, Net: "pipe"} }

func (n *Network) dial(ctx context.Context, _, address string) (net.Conn, error) {
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

// Serve puts a handler on a host until the test ends. If files is set, it serves plain
// HTTP there.
func (n *Network) Serve(t *testing.T, host string, path string, h http.Handler, files ...http.Handler) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	mux := http.NewServeMux()
	mux.Handle(path, h)
	for _, f := range files {
		mux.Handle("/v1/", f)
	}
	p := &Pipes{host: host, conns: make(chan net.Conn), closed: make(chan struct{})}
	s := &http.Server{Handler: mux, Protocols: &protocols}
	n.mu.Lock()
	n.hosts[host+":80"] = p
	n.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(p) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
}

// World is a grid of fakes: one agent, and servers a and b that it ranks.
type World struct {
	Net   *Network
	Agent *Agent
	A, B  *Server
}

// New returns a grid, and a transport that reaches it. It is called in a bubble.
func New(t *testing.T) (*World, http.RoundTripper) {
	w := &World{
		Net: &Network{hosts: make(map[string]*Pipes)}, Agent: &Agent{}, A: &Server{Name: "a"}, B: &Server{Name: "b"},
	}
	w.Agent.Targets = []*droverv1.Target{{Site: "a", Address: "http://a"}, {Site: "b", Address: "http://b"}}
	w.ServeAgent(t, w.Agent)
	for _, s := range []*Server{w.A, w.B} {
		path, h := droverv1connect.NewServerServiceHandler(s)
		w.Net.Serve(t, s.Name, path, h, s)
	}
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &only, DialContext: w.Net.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return w, transport
}

// Up undoes down.
func (w *World) Up(host string, was *Pipes) {
	w.Net.mu.Lock()
	defer w.Net.mu.Unlock()
	w.Net.hosts[host+":80"] = was
}

// Down makes dials to a host fail.
func (w *World) Down(host string) (was *Pipes) {
	w.Net.mu.Lock()
	defer w.Net.mu.Unlock()
	was = w.Net.hosts[host+":80"]
	delete(w.Net.hosts, host+":80")
	return was
}

// Agent is a fake agent.
type Agent struct {
	droverv1connect.UnimplementedAgentServiceHandler
	Mu      sync.Mutex
	Targets []*droverv1.Target
	Mapped  []*droverv1.MapRequest
	Found   *droverv1.FindJobResponse
	MapErr  error
	Service *droverv1.Service
}

// Map answers the call.
func (f *Agent) Map(_ context.Context, req *droverv1.MapRequest) (*droverv1.MapResponse, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Mapped = append(f.Mapped, req)
	return &droverv1.MapResponse{Targets: f.Targets, Decision: &droverv1.DecisionRecord{Agent: "g", Chosen: "a"}},
		f.MapErr
}

// FindJob answers the call.
func (f *Agent) FindJob(_ context.Context, req *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Found == nil {
		return nil, Refusal(connect.CodeNotFound, &droverv1.ErrorDetail{
			Reason: "unknown-job", Message: "no site has job " + req.GetJobId(),
		})
	}
	return f.Found, nil
}

// ListServices answers the call.
func (f *Agent) ListServices(
	_ context.Context, _ *droverv1.ListServicesRequest,
) (*droverv1.ListServicesResponse, error) {
	return &droverv1.ListServicesResponse{Services: []*droverv1.OfferedService{
		{Service: f.Service, Sites: []string{"a"}},
	}}, nil
}

// ListSites answers the call.
func (f *Agent) ListSites(_ context.Context, req *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	if req.GetPageToken() == "" {
		return &droverv1.ListSitesResponse{
			Sites: []*droverv1.KnownSite{{Site: &droverv1.Site{Name: "a", Address: "http://a"}}}, NextPageToken: "more",
		}, nil
	}
	return &droverv1.ListSitesResponse{Sites: []*droverv1.KnownSite{{Site: &droverv1.Site{Name: "b"}}}}, nil
}

// At says that a job is at a server.
func (f *Agent) At(site string, epoch uint32) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Found = &droverv1.FindJobResponse{
		Target: &droverv1.Target{Site: site, Address: "http://" + site}, Job: &droverv1.Job{Epoch: epoch},
	}
}

// Server does what its functions say; one that is nil is unimplemented.
type Server struct {
	droverv1connect.UnimplementedServerServiceHandler
	Name       string
	Mu         sync.Mutex
	submits    []*droverv1.SubmitRequest
	Uploads    map[string]string // content by digest
	Refuse     *problem.Problem  // answers uploads
	OnWithdraw func(nth int, id string) (*droverv1.WithdrawResponse, error)
	Withdrew   []string // IDs
	OnCancel   func(nth int) (*droverv1.CancelJobResponse, error)
	Cancels    []string // IDs
	OnGetJob   func() (*droverv1.GetJobResponse, error)
	OnSubmit   func(ctx context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error)
	OnWatch    func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error
	OnLogs     func(req *droverv1.ReadLogsRequest, stream *connect.ServerStream[droverv1.ReadLogsResponse]) error
	// download sends an output from an offset on; after an error the connection breaks.
	OnDownload func(argument string, at int64, send func(string)) error
	Job        *droverv1.Job
}

// Submit answers the call.
func (f *Server) Submit(ctx context.Context, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	f.Mu.Lock()
	f.submits = append(f.submits, req)
	n := len(f.submits)
	f.Mu.Unlock()
	if f.OnSubmit != nil {
		return f.OnSubmit(ctx, n, req)
	}
	return f.Accept(req), nil
}

// Withdraw answers the call.
func (f *Server) Withdraw(ctx context.Context, req *droverv1.WithdrawRequest) (*droverv1.WithdrawResponse, error) {
	f.Mu.Lock()
	f.Withdrew = append(f.Withdrew, req.GetJobId())
	n := len(f.Withdrew)
	f.Mu.Unlock()
	if f.OnWithdraw == nil {
		return f.UnimplementedServerServiceHandler.Withdraw(ctx, req)
	}
	return f.OnWithdraw(n, req.GetJobId())
}

// CancelJob answers the call.
func (f *Server) CancelJob(ctx context.Context, req *droverv1.CancelJobRequest) (*droverv1.CancelJobResponse, error) {
	f.Mu.Lock()
	f.Cancels = append(f.Cancels, req.GetJobId())
	n := len(f.Cancels)
	f.Mu.Unlock()
	if f.OnCancel == nil {
		return f.UnimplementedServerServiceHandler.CancelJob(ctx, req)
	}
	return f.OnCancel(n)
}

// Withdraws is a server that Withdraws whatever it is asked to.
func Withdraws(int, string) (*droverv1.WithdrawResponse, error) {
	return &droverv1.WithdrawResponse{Withdrawn: true}, nil
}

// Sent returns the submissions that have arrived.
func (f *Server) Sent() []*droverv1.SubmitRequest {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return slices.Clone(f.submits)
}

// Accept answers the call.
func (f *Server) Accept(req *droverv1.SubmitRequest) *droverv1.SubmitResponse {
	return &droverv1.SubmitResponse{Job: &droverv1.Job{
		Id: req.GetJobId(), Site: f.Name, State: droverv1.JobState_JOB_STATE_WAITING,
	}}
}

// ServeHTTP takes uploads and sends outputs.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		f.receive(w, r)
		return
	}
	sendFrom(w, r, func(at int64, send func(string)) error { return f.OnDownload(path.Base(r.URL.Path), at, send) })
}

func (f *Server) receive(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Uploads == nil {
		f.Uploads = make(map[string]string)
	}
	f.Uploads[path.Base(r.URL.Path)] = string(content)
	if p := f.Refuse; p != nil {
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

// StatContent answers the call.
func (f *Server) StatContent(context.Context, *droverv1.StatContentRequest) (*droverv1.StatContentResponse, error) {
	return &droverv1.StatContentResponse{}, nil
}

// WatchJob answers the call.
func (f *Server) WatchJob(
	ctx context.Context, _ *droverv1.WatchJobRequest, stream *connect.ServerStream[droverv1.WatchJobResponse],
) error {
	return f.OnWatch(ctx, stream)
}

// ReadLogs answers the call.
func (f *Server) ReadLogs(
	_ context.Context, req *droverv1.ReadLogsRequest, stream *connect.ServerStream[droverv1.ReadLogsResponse],
) error {
	return f.OnLogs(req, stream)
}

// GetJob answers the call.
func (f *Server) GetJob(context.Context, *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	if f.OnGetJob != nil {
		return f.OnGetJob()
	}
	return &droverv1.GetJobResponse{Job: f.Job}, nil
}

// Refusal returns an error with a detail, as agents and servers send it.
func Refusal(code connect.Code, d *droverv1.ErrorDetail) error {
	e := connect.NewError(code, errors.New(d.GetMessage()))
	if detail, err := connect.NewErrorDetail(d); err == nil {
		e.AddDetail(detail)
	}
	return e
}

// ListJobs answers the call.
func (f *Agent) ListJobs(
	context.Context, *droverv1.AgentServiceListJobsRequest,
) (*droverv1.AgentServiceListJobsResponse, error) {
	return &droverv1.AgentServiceListJobsResponse{}, nil
}

// ListMoves answers the call.
func (f *Agent) ListMoves(
	context.Context, *droverv1.AgentServiceListMovesRequest,
) (*droverv1.AgentServiceListMovesResponse, error) {
	return &droverv1.AgentServiceListMovesResponse{}, nil
}

// SetDraining answers the call.
func (f *Agent) SetDraining(
	_ context.Context, req *droverv1.AgentServiceSetDrainingRequest,
) (*droverv1.AgentServiceSetDrainingResponse, error) {
	return &droverv1.AgentServiceSetDrainingResponse{Status: &droverv1.SiteStatus{
		Waiting: 3, Draining: req.GetDraining(),
	}}, nil
}

// Refound is a job of a silent site, as an agent remembers it.
func Refound(j *droverv1.Job) *droverv1.Job {
	j.Id, j.Site, j.State, j.UnknownFor = ID, "a", droverv1.JobState_JOB_STATE_RUNNING, durationpb.New(time.Minute)
	return j
}

// Cut makes dials to a host fail, and breaks the connections to it.
func (w *World) Cut(host string) (was *Pipes) {
	was = w.Down(host)
	was.Cut()
	return was
}

// ServeAgent replaces the agent.
func (w *World) ServeAgent(t *testing.T, a droverv1connect.AgentServiceHandler) {
	path, h := droverv1connect.NewAgentServiceHandler(a)
	w.Net.Serve(t, "agent", path, h)
}

// Describe answers the call.
func (f *Server) Describe(context.Context, *droverv1.DescribeRequest) (*droverv1.DescribeResponse, error) {
	return &droverv1.DescribeResponse{Site: &droverv1.Site{Name: f.Name}, Services: []*droverv1.Service{{
		Name: "sleep", Arguments: []*droverv1.Argument{{Name: "n", Type: droverv1.ArgumentType_ARGUMENT_TYPE_INT}},
	}}}, nil
}

// GetStatus answers the call.
func (f *Server) GetStatus(context.Context, *droverv1.GetStatusRequest) (*droverv1.GetStatusResponse, error) {
	return &droverv1.GetStatusResponse{Status: &droverv1.SiteStatus{
		Waiting: 2, Draining: true, Commits: 7, Syncs: 3, Ended: 1,
	}}, nil
}

// OfferReservation answers the call.
func (f *Agent) OfferReservation(
	context.Context, *droverv1.AgentServiceOfferReservationRequest,
) (*droverv1.AgentServiceOfferReservationResponse, error) {
	out := &droverv1.AgentServiceOfferReservationResponse{}
	for _, t := range f.Targets {
		out.Offers = append(out.Offers, &droverv1.ReservationOffer{Target: t})
	}
	return out, nil
}

// ServeServer replaces a server.
func (w *World) ServeServer(t *testing.T, name string, s droverv1connect.ServerServiceHandler) {
	path, h := droverv1connect.NewServerServiceHandler(s)
	w.Net.Serve(t, name, path, h)
}

// Full refuses a submission because the queue is full.
func Full(context.Context, int, *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	return nil, Refusal(connect.CodeResourceExhausted, &droverv1.ErrorDetail{
		Reason: "queue-full", Message: "the queue is full", Retryable: true,
	})
}

// States returns a watch that sends States and then fails, or ends when err is nil.
func States(
	err error, jobs ...*droverv1.Job,
) func(context.Context, *connect.ServerStream[droverv1.WatchJobResponse]) error {
	return func(_ context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
		for _, j := range jobs {
			if err := stream.Send(&droverv1.WatchJobResponse{Job: j}); err != nil {
				return err
			}
		}
		return err
	}
}

// ErrCut is the error of a broken connection.
var ErrCut = connect.NewError(connect.CodeUnavailable, errors.New("cut"))

// Stuck never answers a submission.
func Stuck(ctx context.Context, _ int, _ *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

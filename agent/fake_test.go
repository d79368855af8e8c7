package agent

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// memberlist does not wait for a probe under way when it shuts down.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// fakeServer is a site's server with the answers that a test sets.
type fakeServer struct {
	droverv1connect.UnimplementedServerServiceHandler
	name     string
	services []string
	jobs     []*droverv1.Job
	estimate func(context.Context, *droverv1.EstimateRequest) (*droverv1.Quote, error)
	kept     *droverv1.Accuracy
	failures int             // of Describe, before it answers
	hung     <-chan struct{} // when not nil: ListJobs waits for it
	mu       sync.Mutex
	asked    []*droverv1.EstimateRequest
	url      string
	stop     func()
	life     fakeLife
	rounds   fakeRounds
	reserve  fakeReserve
	data     fakeData
}

// wireError is the error of a server that answers with a problem.
func wireError(p *problem.Problem) error { return protorpc.WithDetail(p, p) }

// quote is an estimate of so many seconds.
func quote(wait, run int, width int32) *droverv1.Quote {
	return &droverv1.Quote{
		Width: width, Wait: protorpc.Duration(batch.Duration(wait) * batch.Second),
		Run:      protorpc.Duration(batch.Duration(run) * batch.Second),
		Walltime: protorpc.Duration(batch.Duration(run) * 2 * batch.Second),
		Kind:     droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
	}
}

// answers makes a server that always gives one estimate.
func answers(q *droverv1.Quote) func(context.Context, *droverv1.EstimateRequest) (*droverv1.Quote, error) {
	return func(context.Context, *droverv1.EstimateRequest) (*droverv1.Quote, error) { return q, nil }
}

// hangs makes a server that answers only when the caller has gone.
func hangs(ctx context.Context, _ *droverv1.EstimateRequest) (*droverv1.Quote, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// listen opens a free port of the loopback.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// start serves on a free port of the loopback until the test ends, or stop.
func (f *fakeServer) start(t *testing.T) *fakeServer {
	t.Helper()
	l := listen(t)
	mux := http.NewServeMux()
	mux.Handle(droverv1connect.NewServerServiceHandler(f))
	s := &http.Server{Handler: mux, Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	f.url = "http://" + l.Addr().String()
	f.stop = sync.OnceFunc(func() { _ = s.Close(); <-done })
	t.Cleanup(f.stop)
	return f
}

func (f *fakeServer) Describe(context.Context, *droverv1.DescribeRequest) (*droverv1.DescribeResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failures > 0 {
		f.failures--
		return nil, errors.New("not yet")
	}
	res := &droverv1.DescribeResponse{Site: &droverv1.Site{Name: f.name, Policy: "cbf", Speed: 1}}
	for _, s := range f.services {
		res.Services = append(res.Services, &droverv1.Service{Name: s})
	}
	return res, nil
}

func (f *fakeServer) GetStatus(context.Context, *droverv1.GetStatusRequest) (*droverv1.GetStatusResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &droverv1.GetStatusResponse{Status: f.statusLocked()}, nil
}

func (f *fakeServer) Estimate(ctx context.Context, req *droverv1.EstimateRequest) (*droverv1.EstimateResponse, error) {
	f.mu.Lock()
	f.asked = append(f.asked, req)
	f.mu.Unlock()
	q, err := f.estimate(ctx, req)
	return &droverv1.EstimateResponse{Quote: q, Accuracy: f.kept}, err
}

func (f *fakeServer) GetJob(_ context.Context, req *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.jobLocked(req.GetJobId()); j != nil {
		return &droverv1.GetJobResponse{Job: proto.CloneOf(j)}, nil
	}
	if strings.Contains(req.GetJobId(), "/") {
		return nil, wireError(&problem.Problem{Reason: problem.BadValue, Field: "job_id", Message: "no ID"})
	}
	return nil, wireError(&problem.Problem{Reason: problem.UnknownJob, Message: "no such job"})
}

// ListJobs pages through the jobs; its tokens are the next IDs.
func (f *fakeServer) ListJobs(
	_ context.Context, req *droverv1.ServerServiceListJobsRequest,
) (*droverv1.ServerServiceListJobsResponse, error) {
	if f.hung != nil {
		<-f.hung
	}
	if req.GetFilter() == "state=nonsense" {
		return nil, wireError(&problem.Problem{Reason: problem.BadValue, Field: "filter", Message: "state"})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var jobs []*droverv1.Job
	for _, j := range f.jobs {
		if req.GetFilter() == roundsFilter && j.GetState() != droverv1.JobState_JOB_STATE_WAITING {
			continue
		}
		jobs = append(jobs, proto.CloneOf(j))
	}
	if req.GetFilter() == roundsFilter {
		f.rounds.listed++
	}
	if t := req.GetPageToken(); t != "" {
		jobs = jobs[slices.IndexFunc(jobs, func(j *droverv1.Job) bool { return j.GetId() == t }):]
	}
	res := &droverv1.ServerServiceListJobsResponse{Jobs: jobs}
	if n := int(req.GetPageSize()); len(jobs) > n {
		res.Jobs, res.NextPageToken = jobs[:n], jobs[n].GetId()
	}
	return res, nil
}

// fakeGroup is a group whose members a test sets.
type fakeGroup struct {
	mu       sync.Mutex
	members  []gossip.Member
	departed []string
	changed  chan struct{}
	leaving  func() // called by Leave; may be nil
}

func (g *fakeGroup) Members() []gossip.Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.members)
}
func (g *fakeGroup) Learn([]gossip.Known)            {}
func (g *fakeGroup) Departed(time.Duration) []string { return g.departed }

func (g *fakeGroup) Forgotten(string) bool { return false }

// Forget removes a lost member.
func (g *fakeGroup) Forget(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.members)
	g.members = slices.DeleteFunc(g.members, func(m gossip.Member) bool { return m.Name == name && m.Lost })
	return len(g.members) < before
}
func (g *fakeGroup) Changed() <-chan struct{} { return g.changed }
func (g *fakeGroup) Close() error             { return nil }

func (g *fakeGroup) Leave(context.Context) error {
	if g.leaving != nil {
		g.leaving()
	}
	return nil
}

func (g *fakeGroup) set(members ...gossip.Member) {
	g.mu.Lock()
	g.members = members
	g.mu.Unlock()
	g.changed <- struct{}{}
}

func (f *fakeServer) member(generation uint64) gossip.Member {
	return gossip.Member{Name: f.name, Role: gossip.Server, URL: f.url, API: 1, Generation: generation}
}

// journal is a log that can be waited on.
type journal struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func newJournal() *journal { return &journal{wrote: make(chan struct{}, 1)} }

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer func() {
		select {
		case j.wrote <- struct{}{}:
		default:
		}
	}()
	return j.text.Write(line)
}

func (j *journal) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: j, Level: hclog.Info})
}

// await returns when the log holds text n times.
func (j *journal) await(t *testing.T, text string, n int) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		j.mu.Lock()
		all := j.text.String()
		j.mu.Unlock()
		if strings.Count(all, text) >= n {
			return
		}
		select {
		case <-j.wrote:
		case <-late:
			t.Fatalf("%q is not in the log %d times:\n%s", text, n, all)
		}
	}
}

// grid is an agent under test and what it talks to.
type grid struct {
	agent  *Agent
	group  *fakeGroup
	log    *journal
	client droverv1connect.AgentServiceClient
}

// newGrid runs an agent that knows the servers. tune may change its settings.
func newGrid(t *testing.T, tune func(*Config), servers ...*fakeServer) *grid {
	t.Helper()
	cfg := Default()
	cfg.Patience = 2 * time.Second
	if tune != nil {
		tune(&cfg)
	}
	g := &grid{group: &fakeGroup{changed: make(chan struct{})}, log: newJournal()}
	g.agent = newAgent(cfg, g.log.logger(), g.group)
	l := listen(t)
	g.agent.listener, g.agent.url = l, "http://"+l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.agent.Run(ctx) }()
	var idle http.Transport
	t.Cleanup(func() {
		idle.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	g.client = droverv1connect.NewAgentServiceClient(&http.Client{Transport: &idle}, g.agent.url)
	var members []gossip.Member
	for i, s := range servers {
		members = append(members, s.member(uint64(i+1)))
	}
	g.group.set(members...)
	for _, s := range servers {
		g.log.await(t, "site joined: site="+s.name, 1)
	}
	return g
}

// detail returns the ErrorDetail of an error, and its code.
func detail(t *testing.T, err error) (connect.Code, *droverv1.ErrorDetail) {
	t.Helper()
	var ce *connect.Error
	if !errors.As(err, &ce) || len(ce.Details()) != 1 {
		t.Fatalf("no Connect error with one detail: %v", err)
	}
	v, err := ce.Details()[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	return ce.Code(), v.(*droverv1.ErrorDetail)
}

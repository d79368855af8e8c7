package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// jobs makes n jobs of one site.
func jobs(site string, n int) []*droverv1.Job {
	var out []*droverv1.Job
	for i := range n {
		out = append(out, &droverv1.Job{Id: fmt.Sprintf("%s%d", site, i), Site: site})
	}
	return out
}

func TestListJobsPagesThroughAllSitesWithoutLossOrDuplicates(t *testing.T) {
	g := newGrid(t, nil,
		(&fakeServer{name: "a", jobs: jobs("a", 5)}).start(t),
		(&fakeServer{name: "b"}).start(t),
		(&fakeServer{name: "c", jobs: jobs("c", 4)}).start(t),
	)
	for size := range int32(11) {
		var got []string
		req := &droverv1.AgentServiceListJobsRequest{PageSize: size}
		for {
			res, err := g.client.ListJobs(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			if size > 0 && len(res.GetJobs()) > int(size) {
				t.Fatalf("%d jobs on a page of %d", len(res.GetJobs()), size)
			}
			for _, j := range res.GetJobs() {
				got = append(got, j.GetId())
			}
			if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
				break
			}
		}
		if d := cmp.Diff("a0 a1 a2 a3 a4 c0 c1 c2 c3", strings.Join(got, " ")); d != "" {
			t.Errorf("page size %d: %s", size, d)
		}
	}
}

func TestAPageOfLargeJobsIsShort(t *testing.T) {
	var servers []*fakeServer
	for _, name := range []string{"a", "b", "c"} {
		s := &fakeServer{name: name, jobs: jobs(name, 1)}
		s.jobs[0].Request = &droverv1.Request{
			Labels: map[string]string{"essay": strings.Repeat("x", rpc.LargestMessage/2)},
		}
		servers = append(servers, s.start(t))
	}
	g := newGrid(t, nil, servers...)
	var pages []int
	for req := new(droverv1.AgentServiceListJobsRequest); len(pages) == 0 || req.GetPageToken() != ""; {
		res, err := g.client.ListJobs(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, len(res.GetJobs()))
		req.PageToken = res.GetNextPageToken()
	}
	if d := cmp.Diff([]int{2, 1}, pages); d != "" {
		t.Error(d)
	}
}

func TestListJobsNamesSilentSitesAndReturnsRefusals(t *testing.T) {
	dead := (&fakeServer{name: "dead", jobs: jobs("dead", 1), life: fakeLife{silent: true}}).start(t)
	g := newGrid(t, nil, (&fakeServer{name: "a", jobs: jobs("a", 1)}).start(t), dead)
	dead.stop()
	res, err := g.client.ListJobs(context.Background(), &droverv1.AgentServiceListJobsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.GetJobs()) != 1 || len(res.GetMissing()) != 1 || res.GetMissing()[0].GetSite() != "dead" {
		t.Errorf("%v", res)
	}
	res, err = g.client.ListJobs(context.Background(), &droverv1.AgentServiceListJobsRequest{Filter: "site=a"})
	if err != nil || len(res.GetMissing()) != 0 {
		t.Errorf("%v, %v", res, err)
	}
	_, err = g.client.ListJobs(context.Background(),
		&droverv1.AgentServiceListJobsRequest{Filter: "site=a state=nonsense"})
	if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != "filter" {
		t.Errorf("%v %v", code, d)
	}
}

func TestSilentSitesCostAJobListOnePatienceTogether(t *testing.T) {
	hung := make(chan struct{})
	t.Cleanup(func() { close(hung) })
	g := newGrid(t, func(c *Config) { c.Patience = 300 * time.Millisecond },
		(&fakeServer{name: "a", hung: hung}).start(t), (&fakeServer{name: "b", hung: hung}).start(t),
		(&fakeServer{name: "c", hung: hung}).start(t), (&fakeServer{name: "d", jobs: jobs("d", 2)}).start(t),
	)
	began := time.Now()
	res, err := g.client.ListJobs(context.Background(), &droverv1.AgentServiceListJobsRequest{})
	if took := time.Since(began); err != nil || len(res.GetJobs()) != 2 || len(res.GetMissing()) != 3 ||
		took > 800*time.Millisecond {
		t.Errorf("%v, %v after %v", res, err, took)
	}
}

func TestAnInvalidIDIsARefusalNotSilence(t *testing.T) {
	g := newGrid(t, nil, (&fakeServer{name: "a"}).start(t), (&fakeServer{name: "b"}).start(t))
	_, err := g.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: "no/id"})
	if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetReason() != "bad-value" ||
		d.GetRetryable() {
		t.Errorf("%v %v", code, d)
	}
}

func TestARefusalIsNotRepeatedInTheMessage(t *testing.T) {
	p := &problem.Problem{
		Reason: problem.BadValue, Field: "filter", Accepted: "active", Message: "filter: state \"x\", accepted: active",
	}
	if p.Error() != p.Message {
		t.Errorf("%q", p.Error())
	}
	p = &problem.Problem{Reason: problem.OutOfRange, Field: "page_size", Accepted: "up to 9", Message: "page_size: 10"}
	if want := "page_size: 10, accepted: up to 9"; p.Error() != want {
		t.Errorf("%q, want %q", p.Error(), want)
	}
}

func TestFindJobReturnsTheClaimWithTheHighestEpoch(t *testing.T) {
	gone, waiting := droverv1.JobState_JOB_STATE_GONE, droverv1.JobState_JOB_STATE_WAITING
	dead := (&fakeServer{name: "dead"}).start(t)
	g := newGrid(t, nil,
		(&fakeServer{name: "a", jobs: []*droverv1.Job{
			{Id: "moved", State: gone, Epoch: 2},
			{Id: "back", State: waiting, Epoch: 3},
			{Id: "old", State: waiting, Epoch: 1},
		}}).start(t),
		(&fakeServer{name: "b", jobs: []*droverv1.Job{
			{Id: "moved", State: waiting, Epoch: 2},
			{Id: "back", State: gone, Epoch: 3},
			{Id: "old", State: waiting, Epoch: 4},
		}}).start(t),
		(&fakeServer{name: "c", jobs: []*droverv1.Job{{Id: "moved", State: waiting, Epoch: 1}}}).start(t),
		dead,
	)
	find := func(id string) (*droverv1.FindJobResponse, error) {
		return g.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: id})
	}
	_, err := find("none")
	if code, d := detail(t, err); code != connect.CodeNotFound || d.GetReason() != "unknown-job" || d.GetRetryable() {
		t.Errorf("%v %v", code, d)
	}
	dead.stop()
	for id, site := range map[string]string{"moved": "b", "back": "a", "old": "b"} {
		res, err := find(id)
		if err != nil {
			t.Fatal(err)
		}
		if res.GetTarget().GetSite() != site || res.GetTarget().GetAddress() == "" || res.GetJob().GetId() != id {
			t.Errorf("%s: %v", id, res)
		}
	}
	_, err = find("none")
	if code, d := detail(t, err); code != connect.CodeUnavailable || !d.GetRetryable() ||
		!strings.Contains(d.GetMessage(), "dead") {
		t.Errorf("with a silent site: %v %v", code, d)
	}
}

// A site learns it from its nodes, which may answer after the agent has asked what it is.
func TestGetSiteReturnsPresentCapabilities(t *testing.T) {
	lyon := (&fakeServer{name: "lyon", services: []string{"lu"}}).start(t)
	g := newGrid(t, nil, lyon)
	for _, c := range []struct {
		of   string
		want []string
	}{{"one that answers", []string{"shares=v1"}}, {"one that does not", nil}} {
		res, err := g.client.GetSite(t.Context(), &droverv1.AgentServiceGetSiteRequest{Site: "lyon"})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.GetSite().GetSite(); got.GetPolicy() != "cbf" || !slices.Equal(got.GetCapabilities(), c.want) {
			t.Errorf("%s: %v", c.of, got)
		}
		lyon.stop()
	}
}

func TestSitesAreListedWithTheirStatus(t *testing.T) {
	dead := (&fakeServer{name: "nancy", services: []string{"lu"}}).start(t)
	g := newGrid(t, nil,
		(&fakeServer{name: "lyon", services: []string{"lu"}}).start(t), dead,
		(&fakeServer{name: "metz", services: []string{"sleep"}}).start(t),
	)
	dead.stop()
	for _, c := range []struct {
		filter, want string
	}{
		{"", "lyon:1 metz:1 nancy:unreachable"},
		{"service=lu", "lyon:1 nancy:unreachable"},
		{"name=metz policy=cbf", "metz:1"},
		{"policy=easy", ""},
	} {
		var got []string
		req := &droverv1.ListSitesRequest{Filter: c.filter, PageSize: 1}
		for {
			res, err := g.client.ListSites(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range res.GetSites() {
				state := fmt.Sprint(s.GetStatus().GetWaiting())
				if s.GetMissing() != nil {
					state = s.GetMissing().GetDetail().GetReason()
				}
				if !strings.HasPrefix(s.GetSite().GetAddress(), "http://") {
					t.Errorf("%s has no address", s.GetSite().GetName())
				}
				got = append(got, s.GetSite().GetName()+":"+state)
			}
			if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
				break
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("filter %q: %s", c.filter, d)
		}
	}
}

func TestStatusOfASiteIsKeptInTheView(t *testing.T) {
	g := newGrid(t, nil, (&fakeServer{name: "lyon"}).start(t))
	if _, err := g.client.ListSites(context.Background(), &droverv1.ListSitesRequest{}); err != nil {
		t.Fatal(err)
	}
	sites, _ := g.agent.known()
	if d := cmp.Diff(mapping.Load{Running: 2, Waiting: 1, Busy: 3}, sites[0].Load); d != "" {
		t.Error(d)
	}
}

func TestServicesAreMergedOverSites(t *testing.T) {
	g := newGrid(t, nil,
		(&fakeServer{name: "lyon", services: []string{"sleep", "lu"}}).start(t),
		(&fakeServer{name: "nancy", services: []string{"lu"}}).start(t),
	)
	for filter, want := range map[string]string{
		"":           "lu@lyon,nancy sleep@lyon",
		"site=nancy": "lu@nancy",
		"name=sleep": "sleep@lyon",
	} {
		res, err := g.client.ListServices(context.Background(), &droverv1.ListServicesRequest{Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range res.GetServices() {
			got = append(got, s.GetService().GetName()+"@"+strings.Join(s.GetSites(), ","))
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("filter %q: %s", filter, d)
		}
	}
}

func TestListsRefuseBadPagesAndFilters(t *testing.T) {
	g := newGrid(t, nil)
	for _, c := range []struct {
		req   *droverv1.ListSitesRequest
		field string
	}{
		{&droverv1.ListSitesRequest{PageSize: -1}, "page_size"},
		{&droverv1.ListSitesRequest{PageSize: 1001}, "page_size"},
		{&droverv1.ListSitesRequest{PageToken: "%"}, "page_token"},
		{&droverv1.ListSitesRequest{PageToken: "YWJj"}, "page_token"},
		{&droverv1.ListSitesRequest{Filter: "colour=red"}, "filter"},
		{&droverv1.ListSitesRequest{Filter: "name"}, "filter"},
		{&droverv1.ListSitesRequest{Filter: "name=a name=b"}, "filter"},
	} {
		_, err := g.client.ListSites(context.Background(), c.req)
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != c.field ||
			d.GetAccepted() == "" {
			t.Errorf("%v: %v %v", c.req, code, d)
		}
	}
}

func TestPatienceEndsBeforeTheCallersOwn(t *testing.T) {
	a := &Agent{cfg: Config{Patience: time.Hour}}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	if p := a.patienceFor(ctx, 0); p > 6*time.Minute {
		t.Errorf("%v of 8m", p)
	}
	if p := a.patienceFor(context.Background(), time.Second); p != time.Second {
		t.Errorf("%v, want the second asked for", p)
	}
	if p := a.patienceFor(context.Background(), 2*time.Hour); p != time.Hour {
		t.Errorf("%v, want the agent's own hour", p)
	}
}

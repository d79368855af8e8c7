package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// quick has the agent look often and wait briefly.
func quick(c *Config) { c.Patience, c.Poll = 500*time.Millisecond, 50*time.Millisecond }

// knows waits until the agent remembers what a test wants of a job.
func (g *grid) knows(t *testing.T, site, id string, state droverv1.JobState) {
	t.Helper()
	g.until(t, fmt.Sprintf("job %s at %s is %v", id, site, state), func() bool {
		d, ok := g.agent.jobs.Get(site, id)
		return ok && d.State == rpc.StateOf(state)
	})
}

// until polls the agent's memory.
func (g *grid) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for {
		g.agent.mu.Lock()
		done := ok()
		g.agent.mu.Unlock()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}

// age makes the agent believe that a site last answered that long ago.
func (g *grid) age(site string, by time.Duration) {
	g.agent.mu.Lock()
	defer g.agent.mu.Unlock()
	g.agent.view.SetHeard(g.agent.now().Add(-batch.Duration(by/time.Microsecond)), site)
}

func in(state droverv1.JobState, epoch uint32, j *droverv1.Job) *droverv1.Job {
	j.State, j.Epoch = state, epoch
	return j
}

func TestJobsOfASilentSiteAreListedAsUnknownPageByPage(t *testing.T) {
	dead := &fakeServer{name: "dead"}
	for i := range 7 {
		j := waiting("dead", fmt.Sprintf("d%d", i))
		j.SubmittedAt.Seconds += int64(i)
		dead.jobs = append(dead.jobs, j)
	}
	dead.jobs[2].State = droverv1.JobState_JOB_STATE_RUNNING
	dead.jobs[3].Request.Owner = "bob"
	dead.jobs = append(dead.jobs, in(droverv1.JobState_JOB_STATE_DONE, 0, waiting("dead", "ended")),
		in(droverv1.JobState_JOB_STATE_GONE, 1, waiting("dead", "left")))
	live := &fakeServer{name: "e", jobs: jobs("e", 3)}
	g := newGrid(t, quick, dead.start(t), live.start(t))
	g.knows(t, "dead", "d6", droverv1.JobState_JOB_STATE_WAITING)
	dead.stop()
	g.lose(t, []*fakeServer{dead, live}, "dead")
	g.age("dead", time.Hour)
	for size := range int32(12) {
		var got []string
		req := &droverv1.AgentServiceListJobsRequest{PageSize: size}
		for {
			res, err := g.client.ListJobs(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range res.GetJobs() {
				unknown := j.GetUnknownFor().AsDuration()
				if dead := j.GetSite() == "dead"; dead != (unknown >= time.Hour) ||
					dead && j.GetShape().GetWidth() != 2 {
					t.Errorf("%v", j)
				}
				got = append(got, j.GetId())
			}
			if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
				break
			}
		}
		if d := cmp.Diff("d0 d1 d2 d3 d4 d5 d6 e0 e1 e2", strings.Join(got, " ")); d != "" {
			t.Errorf("page size %d: %s", size, d)
		}
	}
	for filter, n := range map[string]int{
		"state=running": 1, "state=active": 7, "owner=bob": 1, "service=x": 0, "owner=ann state=waiting": 5,
	} {
		res, err := g.client.ListJobs(context.Background(),
			&droverv1.AgentServiceListJobsRequest{Filter: filter + " site=dead"})
		if err != nil || len(res.GetJobs()) != n || len(res.GetMissing()) != 1 {
			t.Errorf("%s: %v, %v", filter, res, err)
		}
	}
}

func TestAListFromMemoryContinuesFromMemory(t *testing.T) {
	lyon := &fakeServer{name: "lyon"}
	for i := range 4 {
		lyon.jobs = append(lyon.jobs, waiting("lyon", fmt.Sprintf("j%d", i)))
	}
	g := newGrid(t, quick, lyon.start(t))
	g.knows(t, "lyon", "j3", droverv1.JobState_JOB_STATE_WAITING)
	g.lose(t, []*fakeServer{lyon}, "lyon")
	list := func(token string) *droverv1.AgentServiceListJobsResponse {
		res, err := g.client.ListJobs(context.Background(), &droverv1.AgentServiceListJobsRequest{
			PageSize: 2, PageToken: token,
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := list("")
	g.group.set(lyon.member(2))
	g.log.await(t, "site joined: site=lyon", 2)
	second := list(first.GetNextPageToken())
	if j := second.GetJobs(); len(j) != 2 || j[0].GetId() != "j2" || j[0].GetUnknownFor() != nil ||
		second.GetNextPageToken() != "" {
		t.Errorf("%v", second)
	}
	// The other way round, the server's own list cannot be continued.
	first = list("")
	g.lose(t, []*fakeServer{lyon}, "lyon")
	second = list(first.GetNextPageToken())
	if len(second.GetJobs()) != 0 || len(second.GetMissing()) != 1 {
		t.Errorf("%v", second)
	}
}

func TestAJobOfASilentSiteIsUnknownNotLost(t *testing.T) {
	gone, incoming := droverv1.JobState_JOB_STATE_GONE, droverv1.JobState_JOB_STATE_INCOMING
	running, moving := droverv1.JobState_JOB_STATE_RUNNING, droverv1.JobState_JOB_STATE_MOVING
	wait := droverv1.JobState_JOB_STATE_WAITING
	dead := &fakeServer{name: "dead", jobs: []*droverv1.Job{
		in(running, 1, waiting("dead", "runs")),
		in(wait, 1, waiting("dead", "older")),
		in(moving, 2, waiting("dead", "leaving")),
	}}
	left := in(gone, 3, waiting("live", "sent"))
	left.MovedTo = "dead"
	silentToo := in(gone, 3, waiting("live", "far"))
	silentToo.MovedTo = "nowhere"
	live := &fakeServer{name: "live", jobs: []*droverv1.Job{
		in(wait, 2, waiting("live", "older")), in(incoming, 2, waiting("live", "leaving")), left, silentToo,
	}}
	g := newGrid(t, quick, dead.start(t), live.start(t))
	g.knows(t, "dead", "leaving", moving)
	onward := in(gone, 2, waiting("dead", "onward"))
	onward.MovedTo = "live"
	dead.change(onward)
	g.knows(t, "dead", "onward", gone)
	dead.stop()
	g.lose(t, []*fakeServer{dead, live}, "dead")
	g.age("dead", time.Hour)
	for _, c := range []struct {
		id, site string
		state    droverv1.JobState
		unknown  bool
	}{
		{"runs", "dead", running, true},
		{"older", "live", wait, false},
		{"leaving", "dead", moving, true}, // only the source knows
		{"sent", "dead", incoming, true},  // live says so, and dead is silent
		{"far", "nowhere", incoming, true},
		{"onward", "dead", gone, true}, // and the caller is redirected to live
	} {
		res, err := g.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: c.id})
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		j := res.GetJob()
		if res.GetTarget().GetSite() != c.site || j.GetState() != c.state || j.GetSite() != c.site ||
			(j.GetUnknownFor() != nil) != c.unknown {
			t.Errorf("%s: %v", c.id, res)
		}
		if c.site == "dead" && j.GetUnknownFor().AsDuration() < time.Hour {
			t.Errorf("%s is unknown for %v", c.id, j.GetUnknownFor().AsDuration())
		}
	}
	_, err := g.client.MoveJob(context.Background(), &droverv1.AgentServiceMoveJobRequest{JobId: "runs", To: "live"})
	if _, d := detail(t, err); d.GetReason() != "unreachable" || !strings.Contains(d.GetMessage(), "dead") {
		t.Errorf("a job of a silent site can be moved: %v", d)
	}
	res, err := g.client.ListSites(context.Background(), &droverv1.ListSitesRequest{Filter: "name=dead"})
	if err != nil || res.GetSites()[0].GetHeardAgo().AsDuration() < time.Hour {
		t.Errorf("%v, %v", res, err)
	}
}

func TestAWatchCatchesUpAfterABreak(t *testing.T) {
	lyon := (&fakeServer{name: "lyon", jobs: []*droverv1.Job{waiting("lyon", "a"), waiting("lyon", "b")}}).start(t)
	g := newGrid(t, quick, lyon)
	g.knows(t, "lyon", "b", droverv1.JobState_JOB_STATE_WAITING)
	lyon.mu.Lock() // blocks the watch
	lyon.jobs[0].State = droverv1.JobState_JOB_STATE_DONE
	lyon.jobs[1].State = droverv1.JobState_JOB_STATE_RUNNING
	lyon.mu.Unlock()
	lyon.breakStreams()
	g.knows(t, "lyon", "b", droverv1.JobState_JOB_STATE_RUNNING)
	g.until(t, "a has ended", func() bool { return g.agent.jobs.Active("lyon") == 1 })
}

func TestLateNewsOfAnEarlierInstanceAreIgnored(t *testing.T) {
	g := newGrid(t, quick, (&fakeServer{name: "lyon", life: fakeLife{silent: true}}).start(t))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	g.agent.remember(over, "lyon", true, true, []mapping.Digest{{ID: "a", State: mapping.Waiting}})
	if n := g.agent.jobs.Active("lyon"); n != 0 {
		t.Errorf("%d jobs", n)
	}
	g.agent.remember(context.Background(), "lyon", true, true, []mapping.Digest{{ID: "a", State: mapping.Waiting}})
	if n := g.agent.jobs.Active("lyon"); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

func TestASiteThatLeftJobsBehindStaysInTheLists(t *testing.T) {
	lyon := (&fakeServer{name: "lyon", services: lists("lu"), jobs: []*droverv1.Job{waiting("lyon", "a")}}).start(t)
	g := newGrid(t, quick, lyon)
	g.knows(t, "lyon", "a", droverv1.JobState_JOB_STATE_WAITING)
	lyon.stop()
	g.group.set()
	g.log.await(t, "site left jobs behind: site=lyon", 1)
	res, err := g.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: "a"})
	if err != nil || res.GetTarget().GetSite() != "lyon" || res.GetJob().GetUnknownFor() == nil {
		t.Errorf("%v, %v", res, err)
	}
}

func TestAFullMemoryIsLogged(t *testing.T) {
	lyon := (&fakeServer{name: "lyon", jobs: jobs("lyon", 3)}).start(t)
	for _, j := range lyon.jobs {
		j.State = droverv1.JobState_JOB_STATE_WAITING
	}
	g := newGrid(t, func(c *Config) { c.Remember = 2 }, lyon)
	g.log.await(t, "memory for jobs is full: site=lyon forgotten=1 limit=2", 1)
}

func TestASilentHostCostsOnePatience(t *testing.T) {
	lyon := (&fakeServer{
		name: "lyon", services: lists("lu"),
		jobs: []*droverv1.Job{in(droverv1.JobState_JOB_STATE_RUNNING, 0, waiting("lyon", "a"))},
	}).start(t)
	hung := listen(t) // the kernel accepts connections, and no process reads them
	t.Cleanup(func() { _ = hung.Close() })
	g := newGrid(t, quick, lyon)
	g.agent.mu.Lock()
	p := g.agent.servers.Peer("http://" + hung.Addr().String())
	g.agent.peers["hung"] = p
	site := *g.agent.view.Get("lyon")
	site.Name = "hung"
	g.agent.view.Put(site)
	g.agent.mu.Unlock()
	for what, call := range map[string]func() error{
		"find": func() error {
			_, err := g.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: "a"})
			return err
		},
		"jobs": func() error {
			res, err := g.client.ListJobs(context.Background(), &droverv1.AgentServiceListJobsRequest{})
			if err == nil && (len(res.GetJobs()) != 1 || len(res.GetMissing()) != 1) {
				return fmt.Errorf("%v", res)
			}
			return err
		},
		"moves": func() error {
			_, err := g.client.ListMoves(context.Background(), &droverv1.AgentServiceListMovesRequest{})
			return err
		},
		"sites": func() error {
			_, err := g.client.ListSites(context.Background(), &droverv1.ListSitesRequest{})
			return err
		},
	} {
		began := time.Now()
		err := call()
		if took := time.Since(began); err != nil || took > 3*time.Second {
			t.Errorf("%s: %v after %v", what, err, took)
		}
	}
}

package server

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/batch/plan/needs"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// learn records a measurement of a job at once.
func (s *testSite) learn(t *testing.T, j *droverv1.Job, found needs.Need) {
	t.Helper()
	g := s.shared.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	it := g.jobs[batch.Key{Job: batch.JobID(j.GetId()), Epoch: j.GetEpoch(), Attempt: j.GetAttempt()}]
	if it == nil {
		t.Fatalf("job %s is not measured", j.GetId())
	}
	it.need.Recall(found)
	it.at = time.Now()
}

func (s *testSite) get(t *testing.T, id string) *droverv1.Job {
	t.Helper()
	res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: id})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetJob()
}

func TestMeasuredNeedsSurviveARestartAndReachThePolicy(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{processors: 1, memory: 1GiB}]")
	cfg.OnStop, cfg.measured = LeaveJobs, time.Hour // only the stop saves it
	s := start(t, cfg)
	enforced(t, s, cgroup.Shares, cgroup.Measuring)
	t.Cleanup(func() {
		if err := supervisor.Dismiss(context.Background(), cfg.DataDir, true); err != nil {
			t.Error(err)
		}
	})
	j := s.submit(t, &droverv1.Request{Service: "spin", MemoryBytes: 64 << 20})
	j = s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	const most = 40 << 20
	s.learn(t, j, needs.Need{CPU: batch.One / 4, Memory: most})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	got := s.get(t, j.GetId())
	if n := got.GetNeeds(); n.GetDeclaredCpu() != 1 || n.GetMeasuredCpu() < 0.25 || n.GetMeasuredCpu() > 0.3 ||
		n.GetDeclaredMemoryBytes() != 64<<20 || n.GetMeasuredMemoryBytes() != most {
		t.Errorf("%v", n)
	}
	// At its next decision the policy gives the job no more than it needs.
	for deadline := time.Now().Add(time.Minute); ; {
		short := s.submit(t, &droverv1.Request{Service: "short"})
		s.until(t, short.GetId(), droverv1.JobState_JOB_STATE_DONE)
		u, err := s.usage(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(u.Jobs) == 1 && u.Jobs[0].Share < batch.One/2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the policy does not know the measurement: %+v", u.Jobs)
		}
	}
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: j.GetId()}); err != nil {
		t.Fatal(err)
	}
	got = s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_CANCELLED)
	if n := got.GetNeeds(); n.GetMeasuredCpu() == 0 || n.GetMeasuredMemoryBytes() < most {
		t.Errorf("after the job's end: %v", n)
	}
	if n := len(s.shared.gauge.jobs); n > 2 { // those of the last measurement
		t.Errorf("the gauge still knows %d attempts", n)
	}
}

func TestMeasuredNeedsAreSavedPeriodicallyAndAtTheEnd(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{processors: 1}]")
	cfg.measured = 10 * time.Millisecond
	s := start(t, cfg)
	enforced(t, s, cgroup.Measuring)
	recorded := func(id string) (m site.Measured) {
		if err := s.see(within(t), func() {
			if j, err := s.core.Job(batch.JobID(id)); err == nil && j.Measured != nil {
				m = *j.Measured
			}
		}); err != nil {
			t.Fatal(err)
		}
		return m
	}
	j := s.submit(t, &droverv1.Request{Service: "spin"})
	j = s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	want := site.Measured{CPU: batch.One / 2, Memory: 1 << 30}
	s.learn(t, j, needs.Need(want))
	for deadline := time.Now().Add(time.Minute); recorded(j.GetId()).Memory != want.Memory; <-time.After(
		5 * time.Millisecond,
	) {
		if time.Now().After(deadline) {
			t.Fatal("the measurement was not saved")
		}
	}
	s.learn(t, j, needs.Need{CPU: batch.One / 2, Memory: 1<<30 + 1}) // too small a change to be saved
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: j.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_CANCELLED)
	if got := recorded(j.GetId()); got.Memory != 1<<30+1 {
		t.Errorf("saved at the job's end: %+v", got)
	}
}

// Measured needs are reported. Yields are relative to the needs that the policy plans with.
func TestYieldIsRelativeToTheDeclaredNeed(t *testing.T) {
	for discover, want := range map[string]float64{"on": 1, "off": 0.5} {
		t.Run(discover, func(t *testing.T) {
			cfg := sharingSite(t, "nodes: [{processors: 1}]")
			cfg.Policy.Settings = batch.Settings{"discover": discover}
			s := start(t, cfg)
			var first *droverv1.Job
			for range 2 {
				j := s.submit(t, &droverv1.Request{Service: "spin"})
				if j = s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING); first == nil {
					first = j
				}
			}
			s.learn(t, first, needs.Need{CPU: batch.One / 2})
			u, err := s.usage(within(t))
			if err != nil {
				t.Fatal(err)
			}
			if j := u.Jobs[0]; j.Yield < want-0.01 || j.Yield > want+0.01 || j.Need != batch.One/2 ||
				j.Declared != batch.One {
				t.Errorf("a yield of %g of %+v", j.Yield, j)
			}
		})
	}
}

func TestOnlySignificantChangesAreSaved(t *testing.T) {
	at := needs.Need{CPU: batch.One / 2, Memory: 16000}
	for name, c := range map[string]struct {
		kept, found needs.Need
		want        bool
	}{
		"the first":          {needs.Need{}, needs.Need{CPU: batch.One}, true},
		"the same":           {at, at, false},
		"hardly less":        {at, needs.Need{CPU: at.CPU - needs.Step + 1, Memory: 16000}, false},
		"less":               {at, needs.Need{CPU: at.CPU - needs.Step, Memory: 16000}, true},
		"more":               {at, needs.Need{CPU: at.CPU + needs.Step, Memory: 16000}, true},
		"hardly more memory": {at, needs.Need{CPU: at.CPU, Memory: 17000}, false},
		"more memory":        {at, needs.Need{CPU: at.CPU, Memory: 17001}, true},
	} {
		if got := worthWriting(c.kept, c.found); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMeasurementsWaitABoundedTimeForTheReader(t *testing.T) {
	g := idleGauge()
	before := site.Measured{CPU: batch.One / 8, Memory: 7}
	a, b, c := batch.Key{Job: "a"}, batch.Key{Job: "b"}, batch.Key{Job: "c"}
	for _, key := range []batch.Key{a, b} {
		g.enter(key, &batch.Job{}, &before, batch.LaunchOnce, nil)
		g.leave(key)
	}
	g.enter(c, &batch.Job{}, nil, batch.LaunchOnce, nil)
	if news := g.changes(); len(news) != 0 {
		t.Errorf("reported although saved or unknown: %+v", news)
	}
	g.leave(c) // leaves before its first measurement
	if found, known := g.take(a); !known || cmp.Diff(needs.Need(before), found) != "" {
		t.Errorf("%+v, %v", found, known)
	}
	g.sample(time.Now().Add(forgetFound / 2))
	if _, known := g.found(b); !known || len(g.jobs) != 1 {
		t.Errorf("the gauge knows %d attempts", len(g.jobs))
	}
	g.sample(time.Now().Add(2 * forgetFound))
	if len(g.jobs) != 0 {
		t.Errorf("the gauge knows %d attempts", len(g.jobs))
	}
}

// On shared processors, a job that needs only part of a processor ends sooner beside a job
// that needs a whole one. On whole processors, its need makes no difference.
func TestRequestedCPUCountsWhereProcessorsAreShared(t *testing.T) {
	for policy, shared := range map[string]bool{"dfrs": true, "easy": false, "fcfs": false, "cbf": false} {
		t.Run(policy, func(t *testing.T) {
			cfg := sharingSite(t, "nodes: [{processors: 1}]")
			cfg.Policy.Name = policy
			s := start(t, cfg)
			busy := s.submit(t, &droverv1.Request{Service: "spin"})
			s.until(t, busy.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
			completion := func(cpu float64) time.Duration {
				res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{
					Service: "short",
					Cpu:     cpu,
				}})
				if err != nil || res.GetQuote().GetRefusal() != nil {
					t.Fatalf("%v, %v", res, err)
				}
				return res.GetQuote().GetCompletion().AsDuration()
			}
			whole, part := completion(1), completion(0.25)
			gain := whole - part
			if shared && gain < 5*time.Second || !shared && (gain > time.Second || gain < -time.Second) {
				t.Errorf("done after %v with a whole processor, after %v with a quarter", whole, part)
			}
			t.Logf("done after %v with a whole processor, after %v with a quarter", whole, part)
		})
	}
}

package server

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// spinYAML defines a service that always uses its processor and one that ends at once.
const spinYAML = `
    - name: spin
      doc: Computes until it is ended.
      command: [/bin/sh, -c, "echo ready; while :; do :; done"]
      model: {fixed: {width: 1, time: 1h}}
    - name: short
      doc: Says when it runs.
      command: [/bin/sh, -c, "date +%s%N"]
      model: {fixed: {width: 1, time: 30s}}
`

// sharingSite is a site under DFRS on part of this host.
func sharingSite(t *testing.T, lines string) Config {
	t.Helper()
	cfg, err := ParseConfig([]byte(fmt.Sprintf(`version: 1
name: lyon
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %s
policy: {name: dfrs}
on_stop: end
grace: 1s
services:
  inline:%s
%s`, t.TempDir(), spinYAML, lines)), "")
	if err != nil {
		t.Fatal(err)
	}
	cfg.worth = cgroup.Processor / 5 // leave processors for other tests
	return cfg
}

// enforced skips a test on hosts that enforce shares only by signals.
func enforced(t *testing.T, s *testSite, all ...cgroup.Ability) {
	t.Helper()
	for _, a := range all {
		if way := s.shared.host.Offers().Of(a); way == cgroup.None || way == cgroup.Signals {
			t.Skip("this host has no control groups: ", s.shared.host.Offers())
		}
	}
}

// used returns the processor time that a job's task used.
func (s *testSite) used(t *testing.T, j *droverv1.Job) cgroup.Use {
	t.Helper()
	p := s.shared.host.Find(node.ID{Key: batch.Key{
		Job: batch.JobID(j.GetId()), Epoch: j.GetEpoch(),
		Attempt: j.GetAttempt(),
	}})
	if p == nil {
		t.Fatalf("job %s has no task", j.GetId())
	}
	u, err := p.Use()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The first jobs need a whole processor each, the last one half. Yields are equal, thus it
// gets half as much as the others.
func TestJobsOnOneNodeGetTheirShares(t *testing.T) {
	s := start(t, sharingSite(t, "nodes: [{processors: 1}]"))
	enforced(t, s, cgroup.Shares, cgroup.Measuring)
	needs := []float64{1, 1, 0.5}
	var jobs []*droverv1.Job
	for _, cpu := range needs {
		j := s.submit(t, &droverv1.Request{Service: "spin", Cpu: cpu})
		jobs = append(jobs, s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING))
	}
	const tries = 3
	for try := 1; ; try++ {
		if got, starved := s.measure(t, jobs, 10*time.Second); len(starved) == 0 {
			for i := range jobs {
				want := needs[i] / 2.5 / 5
				if math.Abs(got[i]-want) > want/10 {
					t.Errorf("job %d: %.4f of a processor, want %.4f", i, got[i], want)
				}
				t.Logf("job %d: %.4f of a processor, its share is %.4f", i, got[i], want)
			}
			return
		} else if try == tries {
			t.Skipf("this host is too busy: shares did not throttle jobs %v: %v", starved, got)
		}
	}
}

// measure returns the usage of jobs, and the jobs that got less than their quota.
func (s *testSite) measure(t *testing.T, jobs []*droverv1.Job, span time.Duration) (rates []float64, starved []int) {
	begin := time.Now()
	var before []cgroup.Use
	for _, j := range jobs {
		before = append(before, s.used(t, j))
	}
	<-time.After(span)
	for i, j := range jobs {
		after, passed := s.used(t, j), time.Since(begin)
		rates = append(rates, float64(after.CPU-before[i].CPU)/float64(passed))
		// A job that always uses its processor is throttled in every period of 100 ms.
		if float64(after.Periods-before[i].Periods) < 0.9*float64(passed/(100*time.Millisecond)) {
			starved = append(starved, i)
		}
	}
	return rates, starved
}

func TestLateShortJobStartsAtOnce(t *testing.T) {
	s := start(t, sharingSite(t, "nodes: [{count: 2, processors: 1}]"))
	for range 4 {
		j := s.submit(t, &droverv1.Request{Service: "spin"})
		s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	}
	late := time.Now()
	j := s.submit(t, &droverv1.Request{Service: "short"})
	j = s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if waited := j.GetStartedAt().AsTime().Sub(late); waited > time.Second {
		t.Errorf("the short job waited %v", waited)
	}
	t.Logf("started after %v, over after %v", j.GetStartedAt().AsTime().Sub(late), time.Since(late))
}

func TestSiteReportsHowSharesAreEnforced(t *testing.T) {
	s := start(t, sharingSite(t, "nodes: [{processors: 1}]"))
	res, err := s.client.GetSite(within(t), &droverv1.GetSiteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	able := strings.Join(res.GetSite().GetCapabilities(), " ")
	for _, o := range s.shared.host.Offers() {
		if want := o.Ability.String() + "=" + o.Way.String(); !strings.Contains(able, want) {
			t.Errorf("%q lacks %s", able, want)
		}
	}
}

func TestNextServerAdoptsRunningAndPausedJobs(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{processors: 1}]")
	cfg.OnStop = LeaveJobs
	s := start(t, cfg)
	enforced(t, s, cgroup.Shares, cgroup.Measuring, cgroup.Pausing)
	t.Cleanup(func() {
		if err := supervisor.Dismiss(context.Background(), cfg.DataDir, true); err != nil {
			t.Error(err)
		}
	})
	var jobs []*droverv1.Job
	for range 2 {
		j := s.submit(t, &droverv1.Request{Service: "spin"})
		jobs = append(jobs, s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING))
	}
	// Pause a job like a policy does.
	p := s.shared.host.Find(node.ID{Key: batch.Key{
		Job: batch.JobID(jobs[0].GetId()), Epoch: jobs[0].GetEpoch(),
		Attempt: jobs[0].GetAttempt(),
	}})
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	for i, j := range jobs {
		now := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
		if now.GetAttempt() != j.GetAttempt() {
			t.Errorf("job %d is another attempt", i)
		}
		before := s.used(t, j).CPU
		for deadline := time.Now().Add(time.Minute); s.used(t,
			j).CPU < before+20*time.Millisecond; <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("job %d did not resume", i)
			}
		}
		if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: j.GetId()}); err != nil {
			t.Fatal(err)
		}
		s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_CANCELLED)
	}
}

func TestRunningJobsAreNotAdoptedInTheOtherMode(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{processors: 1}]")
	cfg.OnStop = LeaveJobs
	s := start(t, cfg)
	t.Cleanup(func() {
		if err := supervisor.Dismiss(context.Background(), cfg.DataDir, true); err != nil {
			t.Error(err)
		}
	})
	j := s.submit(t, &droverv1.Request{Service: "spin"})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	other := cfg
	other.Policy.Name = "cbf"
	if _, err := New(other); err == nil ||
		!strings.Contains(err.Error(), "1 jobs run with shared processors, and policy cbf gives whole ones") {
		t.Fatalf("under cbf: %v", err)
	}
	s = start(t, cfg)
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: j.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_CANCELLED)
}

func TestSharesAreReportedRepeatedly(t *testing.T) {
	s := start(t, sharingSite(t, "nodes: [{processors: 1}]"))
	for _, cpu := range []float64{1, 0.5} {
		j := s.submit(t, &droverv1.Request{Service: "spin", Cpu: cpu, Owner: "u"})
		s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	}
	stream, err := s.client.WatchSite(within(t), &droverv1.WatchSiteRequest{Every: durationpb.New(time.Nanosecond)})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var last *droverv1.WatchSiteResponse
	for n := 0; n < 100 && stream.Receive(); n++ {
		if last = stream.Msg(); len(last.GetJobs()) == 2 && last.GetJobs()[1].GetUsedCpu() > 0 {
			break
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(last.GetJobs()) != 2 || len(last.GetNodes()) != 1 || last.GetNodes()[0].GetTasks() != 2 ||
		math.Abs(last.GetNodes()[0].GetGiven()-1) > 0.01 {
		t.Fatalf("%v", last)
	}
	for i, j := range last.GetJobs() {
		cpu := []float64{1, 0.5}[i]
		if math.Abs(j.GetShare()-cpu/1.5) > 0.01 || math.Abs(j.GetYield()-1/1.5) > 0.01 || j.GetDeclaredCpu() != cpu ||
			j.GetNeedCpu() != cpu || j.GetOwner() != "u" || j.GetPaused() {
			t.Errorf("%v", j)
		}
		if j.GetUsedCpu() > 0 && (j.GetUsedCpuTime().AsDuration() <= 0 ||
			j.GetMeasuredAt().AsTime().After(last.GetAt().AsTime().Add(time.Second))) {
			t.Errorf("processor time: %v", j)
		}
	}
}

func TestWholeProcessorAllocationsAreReported(t *testing.T) {
	s := start(t, configured(t, ""))
	j := s.submit(t, &droverv1.Request{Service: "block", Width: 2})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	stream, err := s.client.WatchSite(within(t), &droverv1.WatchSiteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	m := stream.Msg()
	if len(m.GetJobs()) != 1 || m.GetJobs()[0].GetShare() != 1 || m.GetJobs()[0].GetYield() != 1 ||
		m.GetJobs()[0].GetTasks() != 2 || m.GetJobs()[0].GetNeedCpu() != 0 {
		t.Errorf("%v", m)
	}
	if len(m.GetNodes()) != 2 || m.GetNodes()[0].GetGiven()+m.GetNodes()[1].GetGiven() != 2 {
		t.Errorf("%v", m.GetNodes())
	}
}

// allowed returns the kernel's list of processors of a job's task.
func (s *testSite) allowed(t *testing.T, j *droverv1.Job) string {
	t.Helper()
	p := s.shared.host.Find(node.ID{Key: batch.Key{
		Job: batch.JobID(j.GetId()), Epoch: j.GetEpoch(),
		Attempt: j.GetAttempt(),
	}})
	if p == nil {
		t.Fatalf("job %s has no task", j.GetId())
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid()) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// Two sites of one host get different processors.
func TestVirtualNodesGetDistinctProcessorsIfTheHostHasEnough(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{count: 2, processors: 1}]")
	cfg.worth = 0
	s := start(t, cfg)
	enforced(t, s, cgroup.Processors)
	pins := s.shared.pins
	if pins == nil {
		t.Skip("this host has fewer than two free processors")
	}
	other := start(t, func() Config { c := sharingSite(t, "nodes: [{processors: 1}]"); c.worth = 0; return c }())
	if got := other.shared.pins; got != nil &&
		slices.ContainsFunc(pins, func(p []int) bool { return slices.Equal(p, got[0]) }) {
		t.Errorf("another site of the host also has %v of %v", got, pins)
	}
	var got []string
	for range 2 {
		j := s.submit(t, &droverv1.Request{Service: "spin"})
		got = append(got, s.allowed(t, s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_RUNNING)))
	}
	want := []string{strconv.Itoa(pins[0][0]), strconv.Itoa(pins[1][0])}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("jobs run on %v, want each on one of %v", got, want)
	}
}

package server

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// allowed returns the processors of a job's task, as the kernel says them.
func (s *testSite) allowed(t *testing.T, j *droverv1.Job) string {
	t.Helper()
	p := s.shared.host.Find(node.ID{Key: batch.Key{Job: batch.JobID(j.GetId()), Epoch: j.GetEpoch(), Attempt: j.GetAttempt()}})
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

// Two sites of one host do not get the same ones.
func TestVirtualNodesHaveProcessorsOfTheirOwnWhereTheHostHasEnough(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{count: 2, processors: 1}]")
	cfg.worth = 0
	s := start(t, cfg)
	enforced(t, s, cgroup.Processors)
	pins := s.shared.pins
	if pins == nil {
		t.Skip("this host has less than two processors that nobody else has taken")
	}
	other := start(t, func() Config { c := sharingSite(t, "nodes: [{processors: 1}]"); c.worth = 0; return c }())
	if got := other.shared.pins; got != nil && slices.ContainsFunc(pins, func(p []int) bool { return slices.Equal(p, got[0]) }) {
		t.Errorf("another site of the host has %v, too, of %v", got, pins)
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

package server

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Slurm hears of a job when its time has come, in the order of submission, and of each
// try as a job of its own.
func TestJobsUnderSlurmComeAfterOthersAndAreStartedOnceMore(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	s := start(t, slurmSite(t, c, "on_stop: end"))
	name, say := pipe(t)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Arguments: arguments{"pipe": text(name)}})
	second := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}})
	third := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(second.GetId())}})
	gives := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}})
	book := filepath.Join(t.TempDir(), "book")
	flaky := s.submit(t, &droverv1.Request{Service: "flaky", Arguments: arguments{"book": text(book), "good": number(2)}, Retries: 3})
	s.until(t, first.GetId(), running)
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: gives.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, gives.GetId(), cancelled)
	if j := s.until(t, flaky.GetId(), done); j.GetAttempt() != 3 || j.GetRetried() != 2 || len(j.GetOutputs()) != 0 {
		t.Errorf("%v", j)
	}
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: flaky.GetId()}); got != "try 2\n" {
		t.Errorf("log %q", got)
	}
	queue := c.Run(t, "squeue", "-h", "-o", "%j")
	for _, id := range []string{second.GetId(), third.GetId()} {
		if s.until(t, id, held); strings.Contains(queue, id) {
			t.Errorf("Slurm has job %s already:\n%s", id, queue)
		}
	}
	say("x")
	last := s.until(t, third.GetId(), done)
	if before := s.until(t, second.GetId(), done); last.GetStartedAt().AsTime().Before(before.GetEndedAt().AsTime().Truncate(time.Second)) { // Slurm tells whole ones
		t.Errorf("started at %v, before %v", last.GetStartedAt().AsTime(), before.GetEndedAt().AsTime())
	}
}

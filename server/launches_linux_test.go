package server

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// limitFiles limits the open files of the site's supervisor and returns a function that lifts the
// limit.
func (p *processSite) limitFiles(most uint64) (lift func()) {
	p.t.Helper()
	pids := p.supervisors()
	if len(pids) != 1 {
		p.t.Fatalf("supervisors: %v", pids)
	}
	var before unix.Rlimit
	set := func(to, was *unix.Rlimit) {
		p.t.Helper()
		if err := unix.Prlimit(pids[0], unix.RLIMIT_NOFILE, to, was); err != nil {
			p.t.Fatal(err)
		}
	}
	set(nil, &before)
	set(&unix.Rlimit{Cur: most, Max: before.Max}, nil)
	return func() { set(&before, nil) }
}

// A shortage of the host must not use up the attempts of the waiting jobs: the site stops launching,
// reports why, and continues.
func TestAPassingLaunchFailureFailsNoJob(t *testing.T) {
	g := newGround(t)
	p := newProcessSite(t, "lyon", "policy: {name: fcfs}\nnodes: [{count: 8, processors: 1}]")
	p.run()
	first := newID(t)
	p.submit(first, g.request("once", 1, false, 0))
	p.until(first, done)
	lift := p.limitFiles(4)
	ids := []string{first}
	for range 60 {
		id := newID(t)
		p.submit(id, g.request("once", 1, false, 0))
		ids = append(ids, id)
	}
	problem := func() string {
		t.Helper()
		res, err := p.client.GetStatus(within(t), &droverv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return res.GetStatus().GetLaunchProblem()
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for problem() == "" {
		<-tick.C
	}
	for failures := 0; failures < 2; { // the second pause is twice as long
		<-tick.C
		if problem() == "" {
			for problem() == "" {
				<-tick.C
			}
			failures++
		}
	}
	lift()
	for _, id := range ids {
		if j := p.until(id, done, failed); j.GetState() != done {
			t.Fatalf("job %s is %v: %v", id, j.GetState(), j.GetOutcome())
		}
	}
	count, _, _ := g.lines(t)
	for _, id := range ids {
		if count[id] != 1 {
			t.Errorf("job %s ran %d times", id, count[id])
		}
	}
	if why := problem(); why != "" {
		t.Errorf("launches still fail: %s", why)
	}
}

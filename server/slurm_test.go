package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// slurmSite is a site whose batch system is a real cluster.
func slurmSite(t testing.TB, c *slurmtest.Cluster, lines string) Config {
	t.Helper()
	cfg, err := ParseConfig([]byte(fmt.Sprintf(`version: 1
name: lyon
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %s
batch: {type: slurm, conf: %s, interval: 300ms, timeout: 3s}
services:
  inline:%s
%s`, t.TempDir(), c.Conf(), catalogueYAML, lines)), "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestJobsOfASiteUnderSlurm(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 4})[0]
	s := start(t, slurmSite(t, c, "on_stop: end"))
	described, err := s.client.Describe(within(t), &droverv1.DescribeRequest{})
	if err != nil || described.GetSite().GetPolicy() != "slurm" || described.GetSite().GetPlatform().GetProcessors() != 4 {
		t.Errorf("%v, %v", described.GetSite(), err)
	}
	input := []byte("what is copied\n")
	f, err := s.upload(within(t), input, &droverv1.UploadRequest{Sha256: sum(input), SizeBytes: int64(len(input))})
	if err != nil {
		t.Fatal(err)
	}
	copied := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
	printed := s.submit(t, &droverv1.Request{Service: "print", Arguments: arguments{"text": text("a 'b' $c"), "code": number(3)}})
	many := strings.Repeat("'ORDER\nORDER\n", 300)
	long := s.submit(t, &droverv1.Request{Service: "print", Arguments: arguments{"text": text(many)}})
	absent := s.submit(t, &droverv1.Request{Service: "absent"})
	s.until(t, copied.GetId(), done)
	if got, err := s.download(within(t), copied.GetId(), "to", 0); err != nil || string(got) != string(input) {
		t.Errorf("output %q, %v", got, err)
	}
	if j := s.until(t, printed.GetId(), failed); j.GetOutcome().GetExitCode() != 3 {
		t.Errorf("%v", j)
	}
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: printed.GetId()}); !strings.HasPrefix(got, "a 'b' $c "+printed.GetId()) {
		t.Errorf("log %q", got)
	}
	s.until(t, long.GetId(), done)
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: long.GetId()}); !strings.HasPrefix(got, many+" "+long.GetId()) {
		t.Errorf("%d bytes of log", len(got))
	}
	if j := s.until(t, absent.GetId(), failed); j.GetOutcome().GetReason() == "" {
		t.Errorf("%v", j)
	}
	// It takes all there is, and jobs submitted at once come to Slurm in any order.
	moldable := s.submit(t, &droverv1.Request{Service: "block"})
	j := s.until(t, moldable.GetId(), running)
	if w := j.GetShape().GetWidth(); w < 2 || len(j.GetNodes()) != int(w) {
		t.Errorf("width %d on %v", w, j.GetNodes())
	}
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: moldable.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, moldable.GetId(), cancelled)
}

// Local users are in the way, and a job that waits is cancelled before it starts.
func TestEstimatesOfASiteUnderSlurmCountLocalUsers(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	local := c.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "-n", "2", "-t", "30", "--wrap", "sleep 1000")
	s := start(t, slurmSite(t, c, "on_stop: end"))
	ask := func() *droverv1.EstimateResponse {
		r, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "print"}})
		if err != nil {
			t.Log(err)
		}
		return r
	}
	slurmtest.Until(t, "the local job is seen", func() bool { return ask().GetQuote().GetWait().GetSeconds() > 25*60 })
	waiting := s.submit(t, &droverv1.Request{Service: "print"})
	slurmtest.Until(t, "it is in Slurm", func() bool { return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i"))) == 2 })
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: waiting.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, waiting.GetId(), cancelled)
	slurmtest.Until(t, "it has left Slurm", func() bool { return c.Run(t, "squeue", "-h", "-o", "%i") == local })
	c.Run(t, "scancel", local)
	next := s.submit(t, &droverv1.Request{Service: "print"})
	s.until(t, next.GetId(), done)
}

// slurmProcess is a site under Slurm whose server is a process.
func slurmProcess(t testing.TB, c *slurmtest.Cluster, lines string) *processSite {
	t.Helper()
	return newProcessSite(t, "lyon", fmt.Sprintf("batch: {type: slurm, conf: %s, interval: 300ms, timeout: 3s}\nnodes: []\n%s", c.Conf(), lines))
}

// The server is killed with two jobs running and one waiting. One of the running
// ones, and the waiting one, end while it is away.
func TestAServerUnderSlurmThatIsKilledFindsItsJobs(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	p := slurmProcess(t, c, "")
	p.run()
	short, long := newGround(t), newGround(t)
	ends, goes, waits := newID(t), newID(t), newID(t)
	p.submit(ends, short.request("once", 1, true, 5))
	p.submit(goes, long.request("once", 1, true, 0))
	p.until(ends, running)
	p.until(goes, running)
	p.submit(waits, short.request("once", 1, false, 0))
	slurmtest.Until(t, "all are in Slurm", func() bool { return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i"))) == 3 })
	p.kill()
	short.open()
	slurmtest.Until(t, "two have ended", func() bool { return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i"))) == 1 })
	p.run()
	if j := p.until(ends, done, failed); j.GetOutcome().GetExitCode() != 5 {
		t.Errorf("%v", j.GetOutcome())
	}
	p.until(waits, done)
	if j := p.job(goes); j.GetState() != running {
		t.Errorf("what runs is %v", j.GetState())
	}
	long.open()
	p.until(goes, done)
	p.whole(goes)
	p.whole(waits)
	for _, g := range []*ground{short, long} {
		count, _, _ := g.lines(t)
		for id, n := range count {
			if n != 1 {
				t.Errorf("job %s has run %d times", id, n)
			}
		}
	}
}

// The controller is stopped: submissions are taken, nothing is concluded, and on its
// return each job runs once. The server is killed and started again meanwhile.
func TestASiteUnderSlurmOutlastsItsController(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 3})[0]
	p := slurmProcess(t, c, "")
	p.run()
	g := newGround(t)
	first := newID(t)
	p.submit(first, g.request("once", 1, true, 0))
	p.until(first, running)
	c.Stop(t)
	second := newID(t)
	p.submit(second, g.request("once", 1, false, 0))
	p.kill()
	p.run()
	if j := p.job(first); j.GetState() != running {
		t.Errorf("what runs is %v", j.GetState())
	}
	if j := p.job(second); j.GetState() != waiting {
		t.Errorf("what waits is %v", j.GetState())
	}
	g.open()
	c.StartController(t)
	c.Await(t)
	p.until(first, done)
	p.until(second, done)
	count, order, _ := g.lines(t)
	for _, id := range order {
		if count[id] != 1 {
			t.Errorf("job %s has run %d times", id, count[id])
		}
	}
}

// A server is killed again and again while many jobs come, run and end.
func TestAServerUnderSlurmKilledAtAnyMomentRunsNothingTwice(t *testing.T) {
	const rounds, perRound = 3, 8
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 4})[0]
	p := slurmProcess(t, c, "")
	g := newGround(t)
	var ids []string
	for range rounds {
		p.run()
		for i := range perRound {
			id := newID(t)
			p.submit(id, g.request("once", int32(1+i%2), false, 0))
			ids = append(ids, id)
		}
		p.kill() // some are being handed over
	}
	p.run()
	for _, id := range ids {
		if j := untilJob(t, p.client, id, final); j.GetState() != done {
			t.Errorf("job %s: %v %v", id, j.GetState(), j.GetOutcome())
		}
	}
	count, _, _ := g.lines(t)
	for _, id := range ids {
		if count[id] != 1 {
			t.Errorf("job %s has run %d times", id, count[id])
		}
	}
}

// Jobs move between a site under Slurm and one of Drover's own, in both directions,
// and what was left behind in Slurm's queue is gone from there.
func TestJobsMoveBetweenKindsOfSites(t *testing.T) {
	for from, to := range map[string]string{"slurm": "exec", "exec": "slurm"} {
		t.Run(from+" to "+to, func(t *testing.T) {
			c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 4})[0]
			lines := map[string]string{
				"slurm": fmt.Sprintf("batch: {type: slurm, conf: %s, interval: 300ms, timeout: 3s}\nnodes: []", c.Conf()),
				"exec":  "policy: {name: fcfs}",
			}
			g := newMixedGrid(t, map[string]string{"lyon": lines[from], "nice": lines[to]})
			id := g.queue(letters)
			if from == "slurm" {
				slurmtest.Until(t, "it waits in Slurm", func() bool { return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i"))) == 2 })
			}
			if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice", Reason: "it would wait"}); err != nil {
				t.Fatal(err)
			}
			g.source.until(id, gone)
			if from == "slurm" {
				slurmtest.Until(t, "it has left Slurm", func() bool { return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i"))) == 1 })
			}
			if at, _ := g.settled(id, letters); at != g.target {
				t.Errorf("it ran at %s", at.name)
			}
		})
	}
}

// Slurm has been silent for so long that nobody knows how it is. Submissions are taken
// up to the limit that is stated, by the next server too, and run once on its return.
func TestSubmissionsQueueUpToALimitWhileSlurmIsSilent(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	p := newProcessSite(t, "lyon", fmt.Sprintf("batch: {type: slurm, conf: %s, interval: 200ms, timeout: 1s, stale: 1s, unseen: 3}\nnodes: []\n", c.Conf()))
	p.run()
	g := newGround(t)
	c.Stop(t)
	ask := &droverv1.EstimateRequest{Request: g.request("once", 1, false, 0)}
	slurmtest.Until(t, "there is no estimate", func() bool {
		_, err := p.client.Estimate(within(t), ask)
		if err == nil {
			return false
		}
		_, why := detail(t, err)
		return why.GetReason() == "batch-silent"
	})
	_, err := p.client.Draft(within(t), &droverv1.DraftRequest{Round: "r", Begin: true})
	if _, why := detail(t, err); why.GetReason() != "batch-silent" {
		t.Errorf("a copy of a plan that nobody knows: %v", err)
	}
	var ids []string
	take := func(n int) {
		t.Helper()
		for range n {
			id := newID(t)
			p.submit(id, g.request("once", 1, false, 0))
			ids = append(ids, id)
		}
	}
	take(2)
	p.kill()
	p.run()
	take(1)
	_, err = p.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: g.request("once", 1, false, 0)})
	if _, why := detail(t, err); why.GetReason() != "batch-silent" {
		t.Errorf("one more than may wait: %v", err)
	}
	c.StartController(t)
	c.Await(t)
	for _, id := range ids {
		p.until(id, done)
	}
	count, _, _ := g.lines(t)
	for _, id := range ids {
		if count[id] != 1 {
			t.Errorf("job %s has run %d times", id, count[id])
		}
	}
}

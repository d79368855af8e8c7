package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// slurmSite returns the configuration of a site on a real cluster.
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

// slurmJobs returns how many jobs of all users wait or run in Slurm.
func slurmJobs(t testing.TB, c *slurmtest.Cluster) int {
	t.Helper()
	return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i")))
}

func TestSlurmJobsRunWithFilesArgumentsAndExitCodes(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 4})[0]
	s := start(t, slurmSite(t, c, "on_stop: end"))
	described, err := s.client.Describe(within(t), &droverv1.DescribeRequest{})
	if err != nil || described.GetSite().GetPolicy() != "slurm" ||
		described.GetSite().GetPlatform().GetProcessors() != 4 {
		t.Errorf("%v, %v", described.GetSite(), err)
	}
	input := []byte("copied content\n")
	f, err := s.upload(within(t), input)
	if err != nil {
		t.Fatal(err)
	}
	copied := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
	quoted := arguments{"text": text("a 'b' $c"), "code": number(3)}
	printed := s.submit(t, &droverv1.Request{Service: "print", Arguments: quoted})
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
	got := s.log(t, &droverv1.ReadLogsRequest{JobId: printed.GetId()})
	if !strings.HasPrefix(got, "a 'b' $c "+printed.GetId()) {
		t.Errorf("log %q", got)
	}
	s.until(t, long.GetId(), done)
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: long.GetId()}); !strings.HasPrefix(got, many+" "+long.GetId()) {
		t.Errorf("%d bytes of log", len(got))
	}
	if p := s.withdrawn(t); p.GetService() != "absent" {
		t.Errorf("%v", p)
	}
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: absent.GetId()}); err != nil {
		t.Fatal(err)
	}
	// It gets all free processors. Jobs submitted at the same time reach Slurm in any order.
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

func TestSlurmEstimatesCountLocalJobsAndWaitingJobsCanBeCancelled(t *testing.T) {
	t.Parallel()
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
	slurmtest.Until(t, "the poll shows the local job", func() bool {
		return ask().GetQuote().GetWait().GetSeconds() > 25*60
	})
	waiting := s.submit(t, &droverv1.Request{Service: "print"})
	slurmtest.Until(t, "it is in Slurm", func() bool { return slurmJobs(t, c) == 2 })
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: waiting.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, waiting.GetId(), cancelled)
	slurmtest.Until(t, "it has left Slurm", func() bool { return c.Run(t, "squeue", "-h", "-o", "%i") == local })
	c.Run(t, "scancel", local)
	next := s.submit(t, &droverv1.Request{Service: "print"})
	s.until(t, next.GetId(), done)
}

// slurmProcess is a site under Slurm with its server in a separate process.
func slurmProcess(t testing.TB, c *slurmtest.Cluster, lines string) *processSite {
	t.Helper()
	const batch = "batch: {type: slurm, conf: %s, interval: 300ms, timeout: 3s}\nnodes: []\n%s"
	return newProcessSite(t, "lyon", fmt.Sprintf(batch, c.Conf(), lines))
}

// The server is killed with two jobs running and one waiting. One running job and the
// waiting job end before it starts again.
func TestKilledServerUnderSlurmFindsItsJobs(t *testing.T) {
	t.Parallel()
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
	slurmtest.Until(t, "all are in Slurm", func() bool { return slurmJobs(t, c) == 3 })
	p.kill()
	short.open()
	slurmtest.Until(t, "two have ended", func() bool { return slurmJobs(t, c) == 1 })
	p.run()
	if j := p.until(ends, done, failed); j.GetOutcome().GetExitCode() != 5 {
		t.Errorf("%v", j.GetOutcome())
	}
	p.until(waits, done)
	if j := p.job(goes); j.GetState() != running {
		t.Errorf("the running job is %v", j.GetState())
	}
	long.open()
	p.until(goes, done)
	p.whole(goes)
	p.whole(waits)
	for _, g := range []*ground{short, long} {
		count, _, _ := g.lines(t)
		for id, n := range count {
			if n != 1 {
				t.Errorf("job %s ran %d times", id, n)
			}
		}
	}
}

// While the controller is down, the server accepts a job, keeps the states of its jobs
// and is itself killed and restarted. When the controller is back, each job runs once.
func TestSlurmSiteSurvivesAControllerOutage(t *testing.T) {
	t.Parallel()
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
		t.Errorf("the running job is %v", j.GetState())
	}
	if j := p.job(second); j.GetState() != waiting {
		t.Errorf("the waiting job is %v", j.GetState())
	}
	g.open()
	c.StartController(t)
	c.Await(t)
	p.until(first, done)
	p.until(second, done)
	count, order, _ := g.lines(t)
	for _, id := range order {
		if count[id] != 1 {
			t.Errorf("job %s ran %d times", id, count[id])
		}
	}
}

// The server is killed repeatedly while jobs are submitted, run and end.
func TestSlurmJobsRunOnceDespiteServerKills(t *testing.T) {
	t.Parallel()
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
		p.kill() // during some submissions
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
			t.Errorf("job %s ran %d times", id, count[id])
		}
	}
}

// Jobs move between a site under Slurm and one with an embedded batch system, in both
// directions, and leave Slurm's queue.
func TestJobsMoveBetweenSlurmAndEmbeddedSites(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{"slurm": "exec", "exec": "slurm"} {
		t.Run(from+" to "+to, func(t *testing.T) {
			t.Parallel()
			c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 4})[0]
			lines := map[string]string{
				"slurm": fmt.Sprintf("batch: {type: slurm, conf: %s, interval: 300ms, timeout: 3s}\nnodes: []",
					c.Conf()),
				"exec": "policy: {name: fcfs}",
			}
			g := newMixedGrid(t, map[string]string{"lyon": lines[from], "nice": lines[to]})
			id := g.queue(payload)
			if from == "slurm" {
				slurmtest.Until(t, "it waits in Slurm", func() bool { return slurmJobs(t, c) == 2 })
			}
			if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice", Reason: "it would wait"}); err != nil {
				t.Fatal(err)
			}
			g.source.until(id, gone)
			if from == "slurm" {
				slurmtest.Until(t, "it has left Slurm", func() bool { return slurmJobs(t, c) == 1 })
			}
			if at, _ := g.settled(id, payload); at != g.target {
				t.Errorf("the job ran at %s", at.name)
			}
		})
	}
}

// The controller has been down for longer than stale. The server, and the next server
// process, accept jobs up to the configured limit, and each runs once in the end.
func TestJobsQueueUpToALimitWhileSlurmIsUnreachable(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	const batch = "batch: {type: slurm, conf: %s, interval: 200ms, timeout: 1s, stale: 1s, unseen: 3}\nnodes: []\n"
	p := newProcessSite(t, "lyon", fmt.Sprintf(batch, c.Conf()))
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
		t.Errorf("draft of an unknown plan: %v", err)
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
	_, err = p.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: g.request("once", 1, false,
		0)})
	if _, why := detail(t, err); why.GetReason() != "batch-silent" {
		t.Errorf("one job over the limit: %v", err)
	}
	c.StartController(t)
	c.Await(t)
	for _, id := range ids {
		p.until(id, done)
	}
	count, _, _ := g.lines(t)
	for _, id := range ids {
		if count[id] != 1 {
			t.Errorf("job %s ran %d times", id, count[id])
		}
	}
}

// The server refuses jobs beyond the partition's limits itself.
func TestSlurmSiteHasTheLimitsOfItsPartition(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{
		Name: "a", Nodes: 3, CPUs: 2,
		Partitions: []string{"PartitionName=short Nodes=ALL Default=YES MaxTime=2 MaxNodes=2 State=UP"},
		Lines:      []string{"EnforcePartLimits=NO"}, // Slurm would queue such jobs forever
	})[0]
	s := start(t, slurmSite(t, c, "on_stop: end"))
	described, err := s.client.Describe(within(t), &droverv1.DescribeRequest{})
	l := described.GetSite().GetLimits()
	if err != nil || l.GetWidth() != 4 || l.GetWalltime().AsDuration() != 2*time.Minute {
		t.Errorf("%v, %v", l, err)
	}
	for field, r := range map[string]*droverv1.Request{
		"request.walltime": {Service: "print", Walltime: durationpb.New(121 * time.Second)},
		"request.width":    {Service: "block", Width: 5},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: r})
		if _, why := detail(t, err); why.GetField() != field || !strings.HasPrefix(why.GetReason(), "too-") {
			t.Errorf("%s: %v", field, err)
		}
	}
	fits := s.submit(t, &droverv1.Request{Service: "print", Walltime: durationpb.New(2 * time.Minute)})
	s.until(t, fits.GetId(), done)
}

// A job that depends on others is submitted to Slurm when they have ended. Each retry is
// a new Slurm job.
func TestDependenciesAndRetriesWorkUnderSlurm(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	s := start(t, slurmSite(t, c, "on_stop: end"))
	name, say := pipe(t)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Arguments: arguments{"pipe": text(name)}})
	second := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}})
	third := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(second.GetId())}})
	dropped := s.submit(t, &droverv1.Request{Service: "print", After: []*droverv1.Dependency{onDone(first.GetId())}})
	book := filepath.Join(t.TempDir(), "book")
	goodOnTry2 := arguments{"book": text(book), "good": number(2)}
	flaky := s.submit(t, &droverv1.Request{Service: "flaky", Arguments: goodOnTry2, Retries: 3})
	s.until(t, first.GetId(), running)
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: dropped.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, dropped.GetId(), cancelled)
	if j := s.until(t, flaky.GetId(), done); j.GetAttempt() != 3 || j.GetRetried() != 2 || len(j.GetOutputs()) != 0 {
		t.Errorf("%v", j)
	}
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: flaky.GetId()}); got != "try 2\n" {
		t.Errorf("log %q", got)
	}
	queue := c.Run(t, "squeue", "-h", "-o", "%j")
	for _, id := range []string{second.GetId(), third.GetId()} {
		if s.until(t, id, held); strings.Contains(queue, id) {
			t.Errorf("job %s is in Slurm before its dependency ended:\n%s", id, queue)
		}
	}
	say("x")
	last := s.until(t, third.GetId(), done)
	before := s.until(t, second.GetId(), done)
	// Slurm has whole seconds.
	if last.GetStartedAt().AsTime().Before(before.GetEndedAt().AsTime().Truncate(time.Second)) {
		t.Errorf("started at %v, before %v", last.GetStartedAt().AsTime(), before.GetEndedAt().AsTime())
	}
}

// The jobs end between two polls and remove their own records: Slurm's record counts.
func TestSlurmJobThatDeletesItsRecordsRunsOnce(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	book := filepath.Join(t.TempDir(), "ledger")
	s := start(t, slurmSite(t, c, `    - name: wipe
      doc: Removes what is beside its working directory.
      args: [{name: book, type: string}, {name: what, type: string}, {name: code, type: int}]
      command: [/bin/sh, -c, 'echo "$DROVER_JOB_ID" >> "$0"; rm -rf $1; exit $2', "{book}", "{what}", "{code}"]
      model: {fixed: {width: 1, time: 1s}}
on_stop: end`))
	var ids []string
	for _, what := range []string{"../attempts", "../*"} {
		for code, want := range map[int64]droverv1.JobState{0: done, 3: failed} {
			wiped := arguments{"book": text(book), "what": text(what), "code": number(code)}
			j := s.submit(t, &droverv1.Request{Service: "wipe", Arguments: wiped})
			if got := s.until(t, j.GetId(), want); int64(got.GetOutcome().GetExitCode()) != code ||
				got.GetAttempt() != 1 {
				t.Errorf("%s, %d: %v", what, code, got)
			}
			ids = append(ids, j.GetId())
		}
	}
	lines, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if n := strings.Count(string(lines), id); n != 1 {
			t.Errorf("job %s ran %d times", id, n)
		}
	}
}

// The controller is restored to a state in which a running job still waited. It kills
// the job's processes and starts the job again while the server is down.
func TestJobStartedTwiceBySlurmIsLostAndReported(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	blocker := c.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	p := slurmProcess(t, c, "")
	p.run()
	g := newGround(t)
	id := newID(t)
	p.submit(id, g.request("once", 1, true, 0))
	inSlurm := func() int { return slurmJobs(t, c) }
	slurmtest.Until(t, "it is in Slurm", func() bool { return inSlurm() == 2 })
	c.Checkpoint(t)
	c.Run(t, "scancel", blocker)
	p.until(id, running)
	p.ready(id)
	p.kill()
	c.Crash(t)
	c.DelayPending(t)
	c.Run(t, "scancel", blocker)
	slurmtest.Until(t, "it was started again", func() bool { return inSlurm() == 0 })
	p.run()
	j := p.until(id, done, failed)
	if j.GetState() != failed || !strings.Contains(j.GetOutcome().GetReason(), "lost sight") {
		t.Errorf("%v", j)
	}
	if count, _, _ := g.lines(t); count[id] > 1 {
		t.Errorf("the job ran %d times", count[id])
	}
	slurmtest.Until(t, "the log reports it", func() bool {
		text, err := os.ReadFile(p.config + ".log")
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte("[ERROR]")) && bytes.Contains(line, []byte(id)) {
				return true
			}
		}
		return false
	})
	slurmtest.Until(t, "its notices are removed", func() bool {
		left, err := os.ReadDir(p.dir + "/notices")
		return err == nil && len(left) == 0
	})
}

// A slurmd is killed and Slurm reports a failed node, but the job's program still runs.
// It stops before the next attempt starts.
func TestAttemptsOfAJobOnAFailedNodeDoNotOverlap(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	p := slurmProcess(t, c, "")
	p.run()
	g := newGround(t)
	id := newID(t)
	p.submit(id, g.request("again", 1, true, 0))
	p.until(id, running)
	p.ready(id)
	_, _, first := g.lines(t)
	node := c.Run(t, "squeue", "-h", "-o", "%N")
	c.KillNode(map[string]int{"an1": 0, "an2": 1}[node])
	c.Run(t, "scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=test")
	slurmtest.Until(t, "another attempt has begun", func() bool {
		if count, _, _ := g.lines(t); count[id] == 2 {
			return true
		}
		return false
	})
	if err := syscall.Kill(first[id], 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the first attempt still runs: %v", err)
	}
	g.open()
	p.until(id, done)
	slurmtest.Until(t, "its notices are removed", func() bool {
		left, err := os.ReadDir(p.dir + "/notices")
		return err == nil && len(left) == 0
	})
}

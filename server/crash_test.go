package server

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// history is what clients have learned about one job.
type history struct {
	id      string
	request *droverv1.Request
	code    int64

	accepted  *droverv1.Job // the first answer
	cancelled bool          // a client asked to cancel it
	answer    droverv1.JobState
}

// The server is killed repeatedly while clients submit and cancel. Every acknowledged
// change survives, and no job runs twice.
func TestServerKilledAtRandomRunsEveryJobOnce(t *testing.T) {
	const rounds, perRound, clients = 4, 24, 6
	g := newGround(t)
	p := newProcessSite(t, "lyon", "policy: {name: easy}\nnodes: [{count: 3, processors: 4}]")
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var all []*history
	p.run()
	for round := range rounds {
		batch := make([]*history, perRound)
		for i := range batch {
			h := &history{id: newID(t), code: int64(r.IntN(3))}
			h.request = g.request("once", int32(1+r.IntN(2)), i%4 == 0, h.code)
			h.cancelled = r.IntN(6) == 0
			batch[i] = h
		}
		all = append(all, batch...)
		p.storm(batch, clients, 1+r.IntN(perRound))
		p.run()
		p.check(all)
		t.Logf("round %d: %d jobs were accepted before the kill", round,
			countOf(batch, func(h *history) bool { return h.accepted != nil }))
		for _, h := range batch { // retry those with a lost answer
			job := p.submit(h.id, h.request)
			if h.accepted == nil {
				h.accepted = job
			}
		}
	}
	g.open()
	for _, h := range all {
		j := untilJob(t, p.client, h.id, final)
		want := done
		if h.code != 0 {
			want = failed
		}
		lines, _, _ := g.lines(t)
		switch {
		case h.cancelled && j.GetState() == cancelled:
			if lines[h.id] > 1 {
				t.Errorf("cancelled job %s ran %d times", h.id, lines[h.id])
			}
		case h.answer == cancelled || j.GetState() != want || int64(j.GetOutcome().GetExitCode()) != h.code:
			t.Errorf("job %s of code %d (cancel answered %v) ended as %v: %v", h.id, h.code, h.answer, j.GetState(),
				j.GetOutcome())
		case lines[h.id] != 1:
			t.Errorf("job %s ran %d times", h.id, lines[h.id])
		default:
			p.whole(h.id)
		}
	}
}

func countOf(list []*history, f func(*history) bool) (n int) {
	for _, h := range list {
		if f(h) {
			n++
		}
	}
	return n
}

// storm submits and cancels jobs and kills the server once a number of them is accepted.
func (p *processSite) storm(jobs []*history, clients, enough int) {
	next := make(chan *history)
	var accepted sync.WaitGroup
	accepted.Add(enough)
	left := enough
	var mu sync.Mutex
	ctx := within(p.t)
	var workers sync.WaitGroup
	for range clients {
		workers.Go(func() {
			for h := range next {
				res, err := p.client.Submit(ctx, &droverv1.SubmitRequest{JobId: h.id, Request: h.request})
				if err != nil {
					continue
				}
				h.accepted = res.GetJob()
				mu.Lock()
				if left--; left >= 0 {
					accepted.Done()
				}
				mu.Unlock()
				if !h.cancelled {
					continue
				}
				if res, err := p.client.CancelJob(ctx, &droverv1.CancelJobRequest{JobId: h.id}); err == nil {
					h.answer = res.GetJob().GetState()
				}
			}
		})
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		accepted.Wait()
		p.kill()
	}()
	for _, h := range jobs {
		next <- h
	}
	close(next)
	workers.Wait()
	<-killed
}

// check compares the server's jobs with what clients have learned.
func (p *processSite) check(all []*history) {
	p.t.Helper()
	for _, h := range all {
		if h.accepted == nil {
			continue
		}
		j := p.job(h.id)
		again := p.submit(h.id, h.request)
		for _, got := range []*droverv1.Job{j, again} {
			a := h.accepted
			if !proto.Equal(got.GetRequest(), a.GetRequest()) || !proto.Equal(got.GetSubmittedAt(),
				a.GetSubmittedAt()) ||
				!proto.Equal(got.GetShape(), a.GetShape()) ||
				!proto.Equal(got.GetEstimatedCompletion(), a.GetEstimatedCompletion()) ||
				got.GetRevision() < a.GetRevision() {
				p.t.Errorf("accepted as\n%v\nbut now\n%v", a, got)
			}
		}
		if h.answer == cancelled && j.GetState() != cancelled {
			p.t.Errorf("job %s was reported cancelled but is %v", h.id, j.GetState())
		}
	}
}

func TestRunningAndWaitingJobsSurviveAKill(t *testing.T) {
	g := newGround(t)
	p := newProcessSite(t, "lyon", "policy: {name: fcfs}")
	p.run()
	runs := p.submit(newID(t), g.request("once", 4, true, 7))
	p.ready(runs.GetId())
	var waits []string
	for i := range 12 {
		waits = append(waits, p.submit(newID(t), g.request("once", 4, false, int64(i%2))).GetId())
	}
	before := p.list()
	probe := &droverv1.EstimateRequest{Request: g.request("once", 4, false, 0)}
	said, err := p.client.Estimate(within(t), probe)
	if err != nil {
		t.Fatal(err)
	}
	p.kill()
	p.run()
	if diff := cmp.Diff(before, p.list(), protocmp.Transform()); diff != "" {
		t.Errorf("after the restart:\n%s", diff)
	}
	says, err := p.client.Estimate(within(t), probe)
	if err != nil {
		t.Fatal(err)
	}
	// The plan lost no time, because the job kept running. The margin is the time between
	// the job's start and its record.
	if a, b := said.GetQuote().GetCompletion().AsDuration(), says.GetQuote().GetCompletion().AsDuration(); b > a+a/100 {
		t.Errorf("the promise of %v became %v", a, b)
	}
	_, _, pids := g.lines(t)
	g.open()
	j := p.until(runs.GetId(), failed)
	if j.GetOutcome().GetExitCode() != 7 {
		t.Errorf("outcome %v", j.GetOutcome())
	}
	p.whole(runs.GetId())
	for i, id := range waits {
		j := untilJob(t, p.client, id, final)
		if j.GetOutcome().GetExitCode() != int32(i%2) {
			t.Errorf("job %d: %v", i, j)
		}
		p.whole(id)
	}
	count, order, now := g.lines(t)
	if want := append([]string{runs.GetId()}, waits...); !slices.Equal(order, want) {
		t.Errorf("start order %v, want %v", order, want)
	}
	for id, n := range count {
		if n != 1 {
			t.Errorf("job %s ran %d times", id, n)
		}
	}
	if pids[runs.GetId()] != now[runs.GetId()] {
		t.Errorf("process was %d, is %d", pids[runs.GetId()], now[runs.GetId()])
	}
}

// list returns all jobs.
func (p *processSite) list() (all []*droverv1.Job) {
	p.t.Helper()
	req := &droverv1.ServerServiceListJobsRequest{PageSize: 1000}
	for {
		res, err := p.client.ListJobs(within(p.t), req)
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, res.GetJobs()...)
		if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
			return all
		}
	}
}

func TestJobsThatEndWhileTheServerIsDownAreComplete(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	p := newProcessSite(t, "lyon", "")
	p.run()
	var ids []string
	for i := range 4 {
		ids = append(ids, p.submit(newID(t), g.request("once", 1, true, int64(i))).GetId())
		p.ready(ids[i])
	}
	p.kill()
	_, _, pids := g.lines(t)
	g.open()
	for _, id := range ids {
		await(t, pids[id])
	}
	p.run()
	for i, id := range ids {
		j := untilJob(t, p.client, id, final)
		if want := map[bool]droverv1.JobState{true: done, false: failed}[i == 0]; j.GetState() != want ||
			j.GetOutcome().GetExitCode() != int32(i) ||
			len(j.GetOutputs()) != 1 || j.GetOutputs()[0].GetSha256() != sum([]byte("out of "+id)) {
			t.Errorf("job %d: %v", i, j)
		}
		p.whole(id)
	}
}

func TestJobPausedWithItsServerResumesAfterARestart(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	p := newProcessSite(t, "lyon", "")
	p.run()
	id := p.submit(newID(t), g.request("once", 1, true, 0)).GetId()
	p.ready(id)
	tookUp := func() int {
		text, err := os.ReadFile(p.config + ".log")
		if err != nil {
			t.Error(err)
		}
		return bytes.Count(text, []byte("state restored"))
	}
	if tookUp() != 0 {
		t.Error("the first server logged a recovery")
	}
	p.stop()
	p.run()
	if j := p.job(id); j.GetState() != running {
		t.Errorf("job after the restart: %v", j)
	}
	if tookUp() != 1 {
		t.Error("the next server logged no recovery")
	}
	if _, err := p.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: id}); err != nil {
		t.Error(err)
	}
	p.until(id, cancelled)
	if _, _, pids := g.lines(t); len(pids) == 1 {
		await(t, pids[id])
	}
}

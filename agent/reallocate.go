package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// roundPatience is how many times as long as usual a round waits for a site's answer,
// which can be about very many jobs.
const roundPatience = 5

// reallocateRegularly runs rounds at the multiples of the period, while this agent
// leads, until ctx ends.
func (a *Agent) reallocateRegularly(ctx context.Context) {
	config, period, _ := a.cfg.Reallocation.rounds() // it was validated
	if period == 0 {
		return
	}
	var due batch.Time // a timer can fire a little before the wall clock shows its time
	for {
		now := max(batch.Time(time.Now().UnixMicro()), due)
		due = now.Add(rounds.Next(now, period))
		timer := time.NewTimer(time.Until(time.UnixMicro(int64(due))))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if !a.leads() {
			a.log.Debug("another agent runs the rounds")
			continue
		}
		if _, err := a.round(ctx, config, false); err != nil && ctx.Err() == nil {
			a.log.Warn("round failed", "error", err)
		}
	}
}

// leads reports whether this agent runs the periodic rounds.
func (a *Agent) leads() bool {
	var living []string
	for _, m := range a.group.Members() {
		if m.Role == gossip.Agent && !m.Lost {
			living = append(living, m.Name)
		}
	}
	return rounds.Leads(a.cfg.Name, living)
}

// Reallocate runs a round that a client asked for.
func (a *Agent) Reallocate(ctx context.Context, o rpc.RoundOptions) (*rpc.Round, error) {
	config, _, wrong := a.cfg.Reallocation.with(o).rounds()
	if len(wrong) > 0 {
		e := wrong[0]
		return nil, &problem.Problem{
			Reason: problem.BadValue, Field: e.Key, Message: strconv.Quote(e.Value), Accepted: e.Accepted,
		}
	}
	a.mu.Lock()
	sites, joined := len(a.view.Sites(nil)), a.joined
	a.mu.Unlock()
	if sites == 0 {
		return nil, noSites(joined)
	}
	r, err := a.round(ctx, config, o.DryRun)
	if err != nil {
		return nil, err
	}
	if r.Sites == 0 {
		var all []string
		for _, m := range r.Missing {
			all = append(all, fmt.Sprintf("%s: %v", m.Site, m.Problem))
		}
		return nil, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: "no site takes part in the round: " + strings.Join(all, "; "),
			Hint:    "try again; drover sites shows which sites answer",
		}
	}
	return r, nil
}

// round runs one round, after the one that is under way.
func (a *Agent) round(ctx context.Context, config reallocation.Config, dryRun bool) (*rpc.Round, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, &problem.Problem{
			Reason: problem.Timeout, Retryable: true, Message: "another round of this agent is still under way",
		}
	}
	r, err := a.makeRound(ctx, config, dryRun)
	if err != nil {
		return nil, fmt.Errorf("round of reallocation: %w", err)
	}
	a.logMissing(r)
	failed := 0
	for i := range r.Jobs {
		if p := r.Jobs[i].Problem; p != nil {
			failed++
			a.log.Debug("order failed", "round", r.ID, "job", r.Jobs[i].ID, "error", p)
		}
	}
	level := hclog.Info
	if r.Record.Jobs == 0 { // an idle grid would fill the log
		level = hclog.Debug
	}
	a.log.Log(
		level, "round completed", "round", r.ID, "algorithm", config.Algorithm, "heuristic", config.Heuristic,
		"dry_run", dryRun,
		"sites", r.Sites, "jobs", r.Record.Jobs, "moves", r.Record.Moves, "failed", failed, "took", r.Took,
		"asking", r.Asking, "thinking", r.Thinking,
	)
	return r, nil
}

// logMissing logs the sites that a round left out. It warns only about news: rounds can
// be a second apart, and some sites never take part.
func (a *Agent) logMissing(r *rpc.Round) {
	now := make(map[string]problem.Reason, len(r.Missing))
	for _, m := range r.Missing {
		level := hclog.Warn
		if now[m.Site] = m.Problem.Reason; now[m.Site] == a.leftOut[m.Site] {
			level = hclog.Debug
		}
		a.log.Log(level, "site left out of the round", "round", r.ID, "site", m.Site, "error", m.Problem)
	}
	a.leftOut = now
}

// participants are the sites that take part in a round, by number.
type participants struct {
	sites []*mapping.Site
	peers []*rpc.Peer
}

// waitingJob is a job that waits and can be moved.
type waitingJob struct {
	id, service string
	site        int // number of the participant
	epoch       uint32
	submitted   int64 // microseconds since 1970
	shape       batch.Shape
	moves       int
	input       int64 // bytes
	request     rpc.Request
}

// makeRound lists the waiting jobs, computes a round on drafts and, unless it is a
// dry run, orders what the round has chosen.
func (a *Agent) makeRound(ctx context.Context, config reallocation.Config, dryRun bool) (*rpc.Round, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("name a round: %w", err)
	}
	r := &rpc.Round{ID: id.String(), Began: time.Now(), DryRun: dryRun, Config: config}
	part, jobs := a.listWaiting(ctx, r)
	r.Asking = time.Since(r.Began)
	drafts := &drafts{agent: a, ctx: ctx, round: r.ID, part: part, jobs: jobs}
	in := rounds.Input{
		Config: config, Sites: len(part.sites),
		Transfer: func(job, from, to int) (batch.Duration, bool) {
			return a.links.Known(part.sites[from].Name, part.sites[to].Name, jobs[job].input)
		},
		Offers: func(job, site int) bool { return part.sites[site].Offers(jobs[job].service) },
	}
	alike := alikeOf(jobs)
	for i := range jobs {
		in.Jobs = append(in.Jobs, rounds.Job{
			Site: jobs[i].site, Shape: jobs[i].shape, Like: alike[i], Past: reallocation.Past{
				Moves: jobs[i].moves, Later: a.later.Later(jobs[i].id),
			},
		})
	}
	computed := time.Now()
	result := rounds.Compute(in, drafts)
	r.Thinking = time.Since(computed) - drafts.took
	r.Asking += drafts.took
	if err := ctx.Err(); err != nil {
		drafts.abandon()
		return nil, err
	}
	r.Record = result.Record
	for s, lost := range result.Lost {
		if !lost {
			r.Sites++
			continue
		}
		failure := drafts.failures[s]
		r.Missing = append(r.Missing, failure.absent(part.sites[s].Name))
	}
	slices.SortFunc(r.Missing, func(a, b rpc.Absent) int { return strings.Compare(a.Site, b.Site) })
	for _, c := range result.Choices {
		j := &jobs[c.Job]
		r.Jobs = append(r.Jobs, rpc.RoundJob{
			Choice: c, ID: j.id, Service: j.service, Old: j.shape, FromSite: part.sites[c.From].Name,
			ToSite: part.sites[c.To].Name,
		})
	}
	if !dryRun {
		a.orderRound(ctx, r, part, jobs)
		a.rememberRound(r, jobs)
	}
	r.Took = time.Since(r.Began)
	return r, nil
}

// rememberRound keeps what was done to jobs, and forgets jobs that no longer wait.
func (a *Agent) rememberRound(r *rpc.Round, jobs []waitingJob) {
	waits := make(map[string]bool, len(jobs))
	for i := range jobs {
		waits[jobs[i].id] = true
	}
	a.mu.Lock()
	a.later.Sift(func(job string) bool { return waits[job] || a.jobs.Waits(job) })
	a.mu.Unlock()
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Ordered {
			a.later.Keep(j.ID, j.Past.Later)
		}
	}
}

// listWaiting asks all sites for their waiting jobs, and returns those of the sites
// that answer, in order of submission. The other sites are left out.
func (a *Agent) listWaiting(ctx context.Context, r *rpc.Round) (*participants, []waitingJob) {
	sites, peers := a.known()
	lists := make([]result[[]rpc.Job], len(sites))
	var wg sync.WaitGroup
	for i := range sites {
		wg.Go(func() { lists[i] = a.waitingAt(ctx, sites[i], peers[i]) })
	}
	wg.Wait()
	part := &participants{}
	var jobs []waitingJob
	for i, list := range lists {
		if !list.answered() {
			r.Missing = append(r.Missing, list.absent(sites[i].Name))
			continue
		}
		for _, j := range list.value {
			jobs = append(jobs, waitingJob{
				id: j.ID(), service: j.Request().Service(), site: len(part.sites), epoch: j.Epoch(),
				submitted: j.Submitted(),
				shape:     j.Shape(), moves: j.Moves(), input: j.Request().InputBytes(true), request: j.Request(),
			})
		}
		part.sites, part.peers = append(part.sites, sites[i]), append(part.peers, peers[i])
	}
	slices.SortFunc(jobs, func(a, b waitingJob) int {
		return cmp.Or(cmp.Compare(a.submitted, b.submitted), strings.Compare(a.id, b.id))
	})
	return part, jobs
}

// waitingAt lists the waiting jobs of one site that can be moved.
func (a *Agent) waitingAt(ctx context.Context, s *mapping.Site, p *rpc.Peer) result[[]rpc.Job] {
	var all []rpc.Job
	for token := ""; ; {
		r := patiently(ctx, a, s, p, func(ctx context.Context) (l jobList, err error) {
			l.jobs, l.next, err = p.ListJobs(ctx, "state=waiting movable=true", rpc.LargestPage, token,
				rpc.Full)
			return l, err
		})
		if !r.answered() {
			return result[[]rpc.Job]{missing: r.missing, problem: r.problem}
		}
		all = append(all, r.value.jobs...)
		if token = r.value.next; token == "" {
			return result[[]rpc.Job]{value: all}
		}
	}
}

// patiently asks one site with the patience of rounds.
func patiently[T any](
	ctx context.Context, a *Agent, s *mapping.Site, p *rpc.Peer, call func(context.Context) (T, error),
) result[T] {
	return askFor(ctx, roundPatience*a.cfg.Patience, s, p, call)
}

// alikeOf groups jobs with requests that get the same answer from every site: those of a
// group have the same number, from 1 in order of the jobs. 0 is like no other.
//
// Sizes are not compared. That a shorter walltime completes no later is true for
// today's policies, but an agent cannot know it of every batch system that a site may
// have: one that runs long jobs first would break it.
func alikeOf(jobs []waitingJob) []int {
	alike := make([]int, len(jobs))
	groups := make(map[[sha256.Size]byte]int)
	var text []byte
	for i := range jobs {
		var ok bool
		if text, ok = jobs[i].request.AppendKind(text[:0]); !ok {
			continue
		}
		sum := sha256.Sum256(text)
		if groups[sum] == 0 {
			groups[sum] = len(groups) + 1
		}
		alike[i] = groups[sum]
	}
	return alike
}

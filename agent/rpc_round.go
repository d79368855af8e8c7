package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// slower is how many times as long as usual a site's answer is awaited in a
// round: it may be about very many jobs.
const slower = 5

// roundPlaces are the sites that take part in a round.
type roundPlaces struct {
	sites []*mapping.Site
	peers []*peer
}

// makeRound lists what waits, computes a round on drafts and, unless it is a dry
// run, orders it.
func (a *Agent) makeRound(ctx context.Context, config reallocation.Config, dryRun bool) (*roundReport, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("name a round: %w", err)
	}
	r := &roundReport{id: id.String(), began: time.Now(), dryRun: dryRun, config: config}
	places, jobs := a.listWaiting(ctx, r)
	r.asking = time.Since(r.began)
	drafts := &drafts{agent: a, ctx: ctx, round: r.id, places: places, jobs: jobs}
	in := rounds.Input{
		Config: config, Sites: len(places.sites),
		Transfer: func(job, from, to int) (batch.Duration, bool) {
			return a.links.Known(places.sites[from].Name, places.sites[to].Name, jobs[job].input)
		},
		Offers: func(job, site int) bool { return places.sites[site].Offers(jobs[job].service) },
	}
	likes := likesOf(jobs)
	for i := range jobs {
		in.Jobs = append(in.Jobs, rounds.Job{Site: jobs[i].site, Shape: jobs[i].shape, Like: likes[i], Past: reallocation.Past{
			Moves: jobs[i].moves, Later: a.later.Later(jobs[i].id),
		}})
	}
	computed := time.Now()
	result := rounds.Compute(in, drafts)
	r.thinking = time.Since(computed) - drafts.took
	r.asking += drafts.took
	if err := ctx.Err(); err != nil {
		drafts.abandon()
		return nil, err
	}
	r.record = result.Record
	for s, lost := range result.Lost {
		if !lost {
			r.sites++
			continue
		}
		m := drafts.failures[s]
		r.missing = append(r.missing, leftOut{site: places.sites[s].Name, missing: m.missing, problem: m.problem})
	}
	slices.SortFunc(r.missing, func(a, b leftOut) int { return strings.Compare(a.site, b.site) })
	for _, c := range result.Choices {
		j := &jobs[c.Job]
		r.jobs = append(r.jobs, reallocated{
			Choice: c, id: j.id, service: j.service, before: j.shape,
			from: places.sites[c.From].Name, to: places.sites[c.To].Name,
		})
	}
	if !dryRun {
		a.orderRound(ctx, r, places, jobs)
		a.rememberRound(r, jobs)
	}
	r.took = time.Since(r.began)
	return r, nil
}

// rememberRound keeps what was done to jobs, and forgets those that are over.
func (a *Agent) rememberRound(r *roundReport, jobs []waitingJob) {
	waits := make(map[string]bool, len(jobs))
	for i := range jobs {
		waits[jobs[i].id] = true
	}
	a.mu.Lock()
	a.later.Sift(func(job string) bool { return waits[job] || a.jobs.Waits(job) })
	a.mu.Unlock()
	for i := range r.jobs {
		if j := &r.jobs[i]; j.ordered {
			a.later.Keep(j.id, j.Past.Later)
		}
	}
}

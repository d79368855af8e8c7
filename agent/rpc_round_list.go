package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// waitingJob is a job that waits and may be moved.
type waitingJob struct {
	id, service string
	site        int // of the round
	epoch       uint32
	submitted   int64
	shape       batch.Shape
	moves       int
	input       int64 // bytes
	request     *droverv1.Request
}

// listWaiting asks all sites for the jobs that wait there, and returns those of
// the sites that answer, in order of submission. The others are left out.
func (a *Agent) listWaiting(ctx context.Context, r *roundReport) (*roundPlaces, []waitingJob) {
	sites, peers := a.known()
	lists := make([]result[[]*droverv1.Job], len(sites))
	var wg sync.WaitGroup
	for i := range sites {
		wg.Go(func() { lists[i] = a.waitingAt(ctx, sites[i], peers[i]) })
	}
	wg.Wait()
	places := &roundPlaces{}
	var jobs []waitingJob
	for i, list := range lists {
		if list.missing != mapping.Answered {
			r.missing = append(r.missing, leftOut{site: sites[i].Name, missing: list.missing, problem: list.problem})
			continue
		}
		for _, j := range list.value {
			jobs = append(jobs, waitingIn(j, len(places.sites)))
		}
		places.sites, places.peers = append(places.sites, sites[i]), append(places.peers, peers[i])
	}
	slices.SortFunc(jobs, func(a, b waitingJob) int {
		return cmp.Or(cmp.Compare(a.submitted, b.submitted), strings.Compare(a.id, b.id))
	})
	return places, jobs
}

// waitingAt lists the waiting jobs of one site that may be moved.
func (a *Agent) waitingAt(ctx context.Context, s *mapping.Site, p *peer) result[[]*droverv1.Job] {
	var all []*droverv1.Job
	for token := ""; ; {
		r := slowly(ctx, a, s, p, func(ctx context.Context, p *peer) (*droverv1.ServerServiceListJobsResponse, error) {
			return p.client.ListJobs(ctx, &droverv1.ServerServiceListJobsRequest{
				PageSize: rpc.LargestPage, PageToken: token, Filter: "state=waiting movable=true",
			})
		})
		if r.missing != mapping.Answered {
			return result[[]*droverv1.Job]{missing: r.missing, problem: r.problem}
		}
		all = append(all, r.value.GetJobs()...)
		if token = r.value.GetNextPageToken(); token == "" {
			return result[[]*droverv1.Job]{value: all}
		}
	}
}

func waitingIn(j *droverv1.Job, site int) waitingJob {
	out := waitingJob{
		id: j.GetId(), service: j.GetRequest().GetService(), site: site, epoch: j.GetEpoch(), submitted: microsIn(j.GetSubmittedAt()),
		shape: batch.Shape{Width: j.GetShape().GetWidth(), Walltime: durationIn(j.GetShape().GetWalltime())},
		input: inputBytes(j.GetRequest(), true), request: j.GetRequest(),
	}
	for _, m := range j.GetMoves() {
		if m.GetState() == droverv1.MoveState_MOVE_STATE_MOVED {
			out.moves++
		}
	}
	return out
}

// slowly calls one site as rounds do.
func slowly[T any](ctx context.Context, a *Agent, s *mapping.Site, p *peer, call func(context.Context, *peer) (T, error)) result[T] {
	return ask(ctx, slower*a.cfg.Patience, []*mapping.Site{s}, []*peer{p},
		func(ctx context.Context, _ *mapping.Site, p *peer) result[T] {
			v, err := call(ctx, p)
			if err != nil {
				return failed[T](ctx, err)
			}
			return result[T]{value: v}
		})[0]
}

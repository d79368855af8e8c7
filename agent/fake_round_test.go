package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// fakeRounds is the plan of a fakeServer and what rounds have asked of it. It runs
// one job at a time, in their order, each for a minute.
type fakeRounds struct {
	ahead  time.Duration // until the first waiting job starts
	drafts map[string][]string
	calls  []*droverv1.DraftRequest
	holds  []*droverv1.HoldJobsRequest
	places []*droverv1.PlaceJobsRequest
	listed int                                                         // how often rounds have listed what waits
	before func(ctx context.Context, req *droverv1.DraftRequest) error // of each Draft; may be nil
	onHold func(ctx context.Context) error                             // of each HoldJobs; may be nil
}

const roundsFilter = "state=waiting movable=true"

// waitsLocked returns the IDs of the waiting jobs.
func (f *fakeServer) waitsLocked() []string {
	var ids []string
	for _, j := range f.jobs {
		if j.GetState() == droverv1.JobState_JOB_STATE_WAITING {
			ids = append(ids, j.GetId())
		}
	}
	return ids
}

func (f *fakeServer) ends(n int) *durationpb.Duration {
	return durationpb.New(f.rounds.ahead + time.Duration(n)*time.Minute)
}

func refusalOf(reason problem.Reason) *droverv1.Quote {
	return &droverv1.Quote{Refusal: &droverv1.ErrorDetail{Reason: string(reason), Message: "no"}}
}

func (f *fakeServer) Draft(ctx context.Context, req *droverv1.DraftRequest) (*droverv1.DraftResponse, error) {
	if f.rounds.before != nil {
		if err := f.rounds.before(ctx, req); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.rounds
	r.calls = append(r.calls, proto.CloneOf(req))
	if req.GetBegin() {
		if r.drafts == nil {
			r.drafts = make(map[string][]string)
		}
		r.drafts[req.GetRound()] = f.waitsLocked()
	}
	queue, ok := r.drafts[req.GetRound()]
	if !ok && !req.GetEnd() {
		return nil, wireError(&problem.Problem{Reason: problem.UnknownRound, Message: "no such round"})
	}
	res := &droverv1.DraftResponse{}
	quote := func(n int) *droverv1.Quote {
		return &droverv1.Quote{
			Width: 3, Walltime: durationpb.New(time.Minute), Completion: f.ends(n),
			Kind: droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
		}
	}
	for _, e := range req.GetEdits() {
		i := slices.Index(queue, e.GetJobId())
		switch {
		case e.GetPut():
			queue = append(queue, e.GetJobId())
			res.Edits = append(res.Edits, quote(len(queue)))
		case i < 0:
			res.Edits = append(res.Edits, refusalOf(problem.NotWaiting))
		default:
			queue = slices.Delete(queue, i, i+1)
			res.Edits = append(res.Edits, &droverv1.Quote{})
		}
	}
	for _, q := range req.GetQuestions() {
		i := slices.Index(queue, q.GetJobId())
		switch {
		case q.GetRequest() != nil:
			res.Answers = append(res.Answers, quote(len(queue)+1))
		case i < 0:
			res.Answers = append(res.Answers, refusalOf(problem.NotWaiting))
		default:
			res.Answers = append(res.Answers, quote(i+1))
		}
	}
	if r.drafts[req.GetRound()] = queue; req.GetEnd() {
		delete(r.drafts, req.GetRound())
	}
	return res, nil
}

func (f *fakeServer) HoldJobs(ctx context.Context, req *droverv1.HoldJobsRequest) (*droverv1.HoldJobsResponse, error) {
	f.mu.Lock()
	f.rounds.holds = append(f.rounds.holds, req)
	res := &droverv1.HoldJobsResponse{}
	for _, j := range f.jobs {
		if j.GetState() == droverv1.JobState_JOB_STATE_WAITING && slices.Contains(req.GetJobIds(), j.GetId()) {
			res.Jobs = append(res.Jobs, digestOf(j))
		}
	}
	f.mu.Unlock()
	if f.rounds.onHold != nil {
		return res, f.rounds.onHold(ctx)
	}
	return res, nil
}

func (f *fakeServer) PlaceJobs(_ context.Context, req *droverv1.PlaceJobsRequest) (*droverv1.PlaceJobsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rounds.places = append(f.rounds.places, req)
	res := &droverv1.PlaceJobsResponse{}
	for _, p := range req.GetPlacements() {
		d := digestOf(f.jobLocked(p.GetJobId()))
		if p.GetTo() != "" {
			d.State = droverv1.JobState_JOB_STATE_MOVING
		}
		res.Jobs = append(res.Jobs, d)
	}
	return res, nil
}

// queueOf makes a site with so many waiting jobs, submitted each a second after the
// other, beginning at some second.
func queueOf(name string, jobs int, from int64) *fakeServer {
	f := &fakeServer{name: name, services: lists("lu"), estimate: answers(quote(0, 1, 1))}
	for i := range jobs {
		j := waiting(name, fmt.Sprintf("%s%d", name, i))
		j.SubmittedAt.Seconds += from + int64(i)
		f.jobs = append(f.jobs, j)
	}
	return f
}

// order is an order to move, as it was received.
func orderOf(o *droverv1.MoveJobRequest) string {
	return fmt.Sprintf("%s to %s at %d for %v: %s", o.GetJobId(), o.GetTo(), o.GetSeenEpoch(),
		o.GetMinGain().AsDuration(), o.GetReason())
}

func reallocatedOf(j *droverv1.ReallocatedJob) string {
	return fmt.Sprintf("%s %s>%s %v>%v gain %v", j.GetJobId(), j.GetFrom(), j.GetTo(),
		j.GetEctBefore().AsDuration(), j.GetEctAfter().AsDuration(), j.GetGain().AsDuration())
}

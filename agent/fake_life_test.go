package agent

import (
	"context"
	"slices"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// fakeLife is the life of a fakeServer's jobs, and the calls that it got.
type fakeLife struct {
	draining bool
	silent   bool          // it sends no news of its jobs
	log      []string      // IDs of jobs that have changed
	changed  chan struct{} // closed when the log grows or the streams break
	breaks   int           // of all streams
	orders   []*droverv1.MoveJobRequest
	settled  []*droverv1.SettleJobRequest
	moves    []*droverv1.Move                 // the latest first
	others   map[string]*fakeServer           // where jobs can go
	commit   <-chan struct{}                  // when not nil: every move waits for a value
	refuses  func(id string) *problem.Problem // of orders; may be nil
	most     int                              // moves that were under way at once
}

func (f *fakeServer) jobLocked(id string) *droverv1.Job {
	if i := slices.IndexFunc(f.jobs, func(j *droverv1.Job) bool { return j.GetId() == id }); i >= 0 {
		return f.jobs[i]
	}
	return nil
}

func (f *fakeServer) statusLocked() *droverv1.SiteStatus {
	return &droverv1.SiteStatus{Running: 2, Waiting: 1, ProcessorsBusy: 3, Draining: f.life.draining}
}

// change changes or adds a job, and notifies the watchers.
func (f *fakeServer) change(job *droverv1.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changeLocked(job)
}

func (f *fakeServer) changeLocked(job *droverv1.Job) {
	if i := slices.IndexFunc(f.jobs, func(j *droverv1.Job) bool { return j.GetId() == job.GetId() }); i >= 0 {
		f.jobs[i] = job
	} else {
		f.jobs = append(f.jobs, job)
	}
	f.life.log = append(f.life.log, job.GetId())
	f.wakeLocked()
}

// breakStreams ends every stream of WatchJobs.
func (f *fakeServer) breakStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life.breaks++
	f.wakeLocked()
}

func (f *fakeServer) wakeLocked() {
	if f.life.changed != nil {
		close(f.life.changed)
		f.life.changed = nil
	}
}

func digestOf(j *droverv1.Job) *droverv1.JobDigest {
	return &droverv1.JobDigest{
		Id: j.GetId(), State: j.GetState(), Epoch: j.GetEpoch(), Service: j.GetRequest().GetService(),
		Owner: j.GetRequest().GetOwner(), Shape: j.GetShape(), SubmittedAt: j.GetSubmittedAt(),
		StartedAt: j.GetStartedAt(), MovedTo: j.GetMovedTo(),
	}
}

func (f *fakeServer) WatchJobs(
	ctx context.Context, _ *droverv1.WatchJobsRequest, stream *connect.ServerStream[droverv1.WatchJobsResponse],
) error {
	f.mu.Lock()
	first := &droverv1.WatchJobsResponse{Synced: true}
	for _, j := range f.jobs {
		if s := rpc.StateOf(j.GetState()); !s.Ended() {
			first.Jobs = append(first.Jobs, digestOf(j))
		}
	}
	at, breaks, silent := len(f.life.log), f.life.breaks, f.life.silent
	f.mu.Unlock()
	if silent {
		<-ctx.Done()
		return ctx.Err()
	}
	for next := first; ; {
		if err := stream.Send(next); err != nil {
			return err
		}
		f.mu.Lock()
		for at == len(f.life.log) {
			if f.life.breaks != breaks {
				f.mu.Unlock()
				return connect.NewError(connect.CodeUnavailable, nil)
			}
			if f.life.changed == nil {
				f.life.changed = make(chan struct{})
			}
			changed := f.life.changed
			f.mu.Unlock()
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
			f.mu.Lock()
		}
		next = &droverv1.WatchJobsResponse{}
		for _, id := range f.life.log[at:] {
			if !slices.ContainsFunc(next.Jobs, func(d *droverv1.JobDigest) bool { return d.GetId() == id }) {
				next.Jobs = append(next.Jobs, digestOf(f.jobLocked(id)))
			}
		}
		at = len(f.life.log)
		f.mu.Unlock()
	}
}

// MoveJob begins a move, which commits by itself.
func (f *fakeServer) MoveJob(_ context.Context, req *droverv1.MoveJobRequest) (*droverv1.MoveJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life.orders = append(f.life.orders, req)
	job := f.jobLocked(req.GetJobId())
	switch {
	case job == nil:
		return nil, wireError(&problem.Problem{Reason: problem.UnknownJob, Message: "no such job"})
	case job.GetState() != droverv1.JobState_JOB_STATE_WAITING:
		return nil, wireError(&problem.Problem{Reason: problem.NotWaiting, Message: "it does not wait"})
	case job.GetEpoch() != req.GetSeenEpoch():
		return nil, wireError(&problem.Problem{Reason: problem.StaleEpoch, Message: "another epoch"})
	case f.life.refuses != nil && f.life.refuses(job.GetId()) != nil:
		return nil, wireError(f.life.refuses(job.GetId()))
	}
	job = proto.CloneOf(job)
	job.State, job.Epoch, job.Peer = droverv1.JobState_JOB_STATE_MOVING, job.GetEpoch()+1, req.GetTo()
	f.changeLocked(job)
	moving := 0
	for _, j := range f.jobs {
		if j.GetState() == droverv1.JobState_JOB_STATE_MOVING {
			moving++
		}
	}
	f.life.most = max(f.life.most, moving)
	go func() {
		if f.life.commit != nil {
			<-f.life.commit
		}
		gone, there := proto.CloneOf(job), proto.CloneOf(job)
		gone.State, gone.MovedTo = droverv1.JobState_JOB_STATE_GONE, req.GetTo()
		there.State, there.Site = droverv1.JobState_JOB_STATE_WAITING, req.GetTo()
		f.change(gone)
		f.life.others[req.GetTo()].change(there)
	}()
	return &droverv1.MoveJobResponse{Job: proto.CloneOf(job)}, nil
}

// ListMoves pages through the moves; its tokens are the jobs and epochs to go
// on with.
func (f *fakeServer) ListMoves(
	_ context.Context, req *droverv1.ServerServiceListMovesRequest,
) (*droverv1.ServerServiceListMovesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var moves []*droverv1.Move
	for _, m := range f.life.moves {
		if req.GetFilter() == "" || req.GetFilter() == "job="+m.GetJobId() {
			moves = append(moves, proto.CloneOf(m))
		}
	}
	if t := req.GetPageToken(); t != "" {
		moves = moves[slices.IndexFunc(moves, func(m *droverv1.Move) bool { return moveName(m) == t }):]
	}
	res := &droverv1.ServerServiceListMovesResponse{Moves: moves}
	if n := int(req.GetPageSize()); len(moves) > n {
		res.Moves, res.NextPageToken = moves[:n], moveName(moves[n])
	}
	return res, nil
}

func (f *fakeServer) SetDraining(
	_ context.Context, req *droverv1.SetDrainingRequest,
) (*droverv1.SetDrainingResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life.draining = req.GetDraining()
	return &droverv1.SetDrainingResponse{Status: f.statusLocked()}, nil
}

func (f *fakeServer) SettleJob(_ context.Context, req *droverv1.SettleJobRequest) (*droverv1.SettleJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life.settled = append(f.life.settled, req)
	return &droverv1.SettleJobResponse{Job: &droverv1.Job{Id: req.GetJobId(), Site: f.name}}, nil
}

package server

import (
	"context"
	"math"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// The bounds of the time between two answers of WatchSite.
const (
	topOften  = 100 * time.Millisecond
	topSeldom = time.Hour
)

// WatchSite sends who has what, now and then.
func (f face) WatchSite(ctx context.Context, req *droverv1.WatchSiteRequest, stream *connect.ServerStream[droverv1.WatchSiteResponse]) error {
	every := time.Second
	if req.GetEvery() != nil {
		every = min(max(req.GetEvery().AsDuration(), topOften), topSeldom)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		now, err := f.s.inUse(ctx)
		if err != nil {
			return err
		}
		if err := stream.Send(f.s.usesOut(now)); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.s.closing:
			return errStopping
		}
	}
}

func (s *Server) usesOut(u *uses) *droverv1.WatchSiteResponse {
	out := &droverv1.WatchSiteResponse{At: timestamppb.New(u.at), Waiting: int32(min(u.waiting, math.MaxInt32)), Capabilities: s.capabilities()}
	for _, n := range u.nodes {
		out.Nodes = append(out.Nodes, &droverv1.NodeUse{
			Name: n.name, Processors: n.processors, Given: n.given, MemoryBytes: n.memory, Tasks: n.tasks, Away: n.away != "", AwayReason: n.away,
		})
	}
	for i := range u.jobs {
		j := &u.jobs[i]
		use := &droverv1.JobUse{
			JobId: string(j.job.ID), Service: j.job.Service, Owner: j.job.Owner, Paused: j.paused, Nodes: j.nodes, Tasks: j.tasks,
			Share: partOut(j.share), Yield: j.yield(), DeclaredCpu: partOut(j.declared), NeedCpu: partOut(j.need),
			UsedCpu: j.rate, UsedMemoryBytes: j.memory, MeasuredMemoryBytes: j.most,
		}
		if n := j.job.Needs; n != nil {
			use.DeclaredMemoryBytes = n.Memory
		}
		if j.measured && !j.reading.at.IsZero() {
			use.UsedCpuTime, use.MeasuredAt = durationpb.New(j.cpu), timestamppb.New(j.reading.at)
		}
		out.Jobs = append(out.Jobs, use)
	}
	return out
}

func partOut(s batch.Share) float64 { return float64(s) / float64(batch.One) }

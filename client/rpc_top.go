package client

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// errNoMore is the failure of a watch of a site that its server has ended.
var errNoMore = errors.New("the server ended the watch")

// watchSite calls see with each answer until it says that this was the last.
func (f *face) watchSite(ctx context.Context, server string, every time.Duration, see func(*SiteUse) (end bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on the server, too
	ctx, call := begin(ctx, "server", server)
	req := &droverv1.WatchSiteRequest{}
	if every > 0 {
		req.Every = durationpb.New(every)
	}
	stream, err := f.server(server).WatchSite(ctx, req)
	if err != nil {
		return call.failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		if end, err := see(siteUseIn(stream.Msg())); end || err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return call.failed(err)
	}
	return call.failed(errNoMore)
}

func siteUseIn(m *droverv1.WatchSiteResponse) *SiteUse {
	out := &SiteUse{At: timeIn(m.GetAt()), Waiting: int(m.GetWaiting()), Capabilities: m.GetCapabilities()}
	for _, n := range m.GetNodes() {
		out.Nodes = append(out.Nodes, NodeUse{
			Name: n.GetName(), Processors: int(n.GetProcessors()), Given: n.GetGiven(), Memory: n.GetMemoryBytes(), Tasks: int(n.GetTasks()), Away: n.GetAway(), AwayReason: n.GetAwayReason(),
		})
	}
	for _, j := range m.GetJobs() {
		out.Jobs = append(out.Jobs, JobUse{
			ID: j.GetJobId(), Service: j.GetService(), Owner: j.GetOwner(), Paused: j.GetPaused(), Nodes: j.GetNodes(), Tasks: int(j.GetTasks()),
			Share: j.GetShare(), Yield: j.GetYield(), Declared: j.GetDeclaredCpu(), Need: j.GetNeedCpu(), Used: j.GetUsedCpu(), Memory: j.GetUsedMemoryBytes(),
			CPUTime: j.GetUsedCpuTime().AsDuration(), Measured: timeIn(j.GetMeasuredAt()),
			DeclaredMemory: j.GetDeclaredMemoryBytes(), MostMemory: j.GetMeasuredMemoryBytes(),
		})
	}
	return out
}

package rpc

import (
	"context"
	"math"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

var typesOut = map[catalogue.Type]droverv1.ArgumentType{
	catalogue.TypeInt:     droverv1.ArgumentType_ARGUMENT_TYPE_INT,
	catalogue.TypeFloat:   droverv1.ArgumentType_ARGUMENT_TYPE_FLOAT,
	catalogue.TypeString:  droverv1.ArgumentType_ARGUMENT_TYPE_STRING,
	catalogue.TypeBool:    droverv1.ArgumentType_ARGUMENT_TYPE_BOOL,
	catalogue.TypeFileIn:  droverv1.ArgumentType_ARGUMENT_TYPE_FILE_IN,
	catalogue.TypeFileOut: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT,

	catalogue.TypeFileInOut:   droverv1.ArgumentType_ARGUMENT_TYPE_FILE_INOUT,
	catalogue.TypeVector:      droverv1.ArgumentType_ARGUMENT_TYPE_VECTOR_IN,
	catalogue.TypeVectorOut:   droverv1.ArgumentType_ARGUMENT_TYPE_VECTOR_OUT,
	catalogue.TypeVectorInOut: droverv1.ArgumentType_ARGUMENT_TYPE_VECTOR_INOUT,
	catalogue.TypeMatrix:      droverv1.ArgumentType_ARGUMENT_TYPE_MATRIX_IN,
	catalogue.TypeMatrixOut:   droverv1.ArgumentType_ARGUMENT_TYPE_MATRIX_OUT,
	catalogue.TypeMatrixInOut: droverv1.ArgumentType_ARGUMENT_TYPE_MATRIX_INOUT,
}

// Describe returns the description of the site and its services.
func (h handler) Describe(context.Context, *droverv1.DescribeRequest) (*droverv1.DescribeResponse, error) {
	about := h.s.About()
	out := &droverv1.DescribeResponse{Site: siteOut(&about)}
	for _, service := range h.s.Services() {
		out.Services = append(out.Services, serviceOut(service, about.Width))
	}
	for _, k := range h.s.Known() {
		out.Known = append(out.Known, &droverv1.KnownServer{
			Name: k.Name, Url: k.URL, Gossip: k.Address, ApiVersion: int32(k.API), Instance: k.Instance, Left: k.Left,
		})
	}
	return out, nil
}

// siteOut returns a site's description for the wire.
func siteOut(a *About) *droverv1.Site {
	out := &droverv1.Site{
		Name: a.Name, Address: a.URL, Speed: a.Speed, Policy: a.Policy, ApiVersion: a.API, Capabilities: a.Capabilities,
		Platform: &droverv1.Platform{Processors: a.Platform.Width()},
		Limits:   &droverv1.Limits{Width: a.Width, Walltime: rpc.Duration(a.Walltime), FileBytes: a.FileBytes},
	}
	for _, n := range a.Platform.Nodes {
		out.Platform.Nodes = append(out.Platform.Nodes, &droverv1.Node{
			Name: n.Name, Processors: n.Processors,
			MemoryBytes: n.Memory,
		})
	}
	return out
}

// serviceOut returns a service for the wire, as a site with the given number of processors offers
// it.
func serviceOut(service *catalogue.Service, width int32) *droverv1.Service {
	lo, hi, moldable := service.Widths()
	out := &droverv1.Service{
		Name: service.Name, Doc: service.Doc, WidthMin: lo, WidthMax: max(min(hi, width), lo), Moldable: moldable,
		MemoryBytes: service.Memory,
	}
	for i := range service.Arguments {
		a := &service.Arguments[i]
		out.Arguments = append(out.Arguments, &droverv1.Argument{
			Name: a.Name, Doc: a.Doc, Type: typesOut[a.Type], Required: a.Required, Default: valueOut(a.Default),
			Minimum: valueOut(a.Min), Maximum: valueOut(a.Max), Choices: a.Choices,
			Element: elementsOut[a.Element], Dimensions: a.Dims,
		})
	}
	return out
}

// GetStatus returns the site's queue and load.
func (h handler) GetStatus(ctx context.Context, req *droverv1.GetStatusRequest) (*droverv1.GetStatusResponse, error) {
	status, err := h.status(ctx)
	if err != nil {
		return nil, err
	}
	if req.GetAccuracy() {
		all, err := h.s.Accuracy(ctx)
		if err != nil {
			return nil, err
		}
		for i := range all {
			status.Accuracy = append(status.Accuracy, accuracyOut(&all[i]))
		}
	}
	return &droverv1.GetStatusResponse{Status: status}, nil
}

// accuracyOut returns the accuracy of estimates for the wire.
func accuracyOut(a *site.Accuracy) *droverv1.Accuracy {
	out := func(e site.Errors) *droverv1.Errors {
		return &droverv1.Errors{
			Bias: rpc.Duration(e.Bias), Median: rpc.Duration(e.Median), P50: rpc.Duration(e.P50),
			P90: rpc.Duration(e.P90),
		}
	}
	return &droverv1.Accuracy{
		Service: a.Service, Jobs: int32(a.Jobs), Start: out(a.Start), Completion: out(a.End),
		RunRatio: float64(a.Run) / float64(batch.One), Kind: rpc.EstimateKind(a.Kind),
	}
}

// SetDraining stops or resumes the acceptance of new jobs.
func (h handler) SetDraining(
	ctx context.Context, req *droverv1.SetDrainingRequest,
) (*droverv1.SetDrainingResponse, error) {
	if err := h.s.SetDraining(ctx, req.GetDraining()); err != nil {
		return nil, err
	}
	status, err := h.status(ctx)
	if err != nil {
		return nil, err
	}
	return &droverv1.SetDrainingResponse{Status: status}, nil
}

// status returns the site's queue for the wire.
func (h handler) status(ctx context.Context) (*droverv1.SiteStatus, error) {
	s, err := h.s.Status(ctx)
	if err != nil {
		return nil, err
	}
	l := s.Load
	var offset *durationpb.Duration
	if s.ClockOffset != 0 {
		offset = durationpb.New(s.ClockOffset)
	}
	return &droverv1.SiteStatus{
		Running: int32(min(l.Running, math.MaxInt32)), Waiting: int32(min(l.Waiting, math.MaxInt32)),
		ProcessorsBusy: l.Busy, Processors: l.Processors, Load: float64(l.Busy) / float64(l.Processors),
		BacklogSeconds: l.Backlog.Seconds(), Ended: l.Ended,
		Draining: s.Draining, Degraded: s.Degraded, Commits: s.Commits, Syncs: s.Syncs,
		Bound: int32(min(l.Bound, math.MaxInt32)), Agreements: agreementCountsOut(s.Agreements),
		Data: dataUsageOut(s.Data), LaunchProblem: s.LaunchProblem,
		ServiceProblems: serviceProblemsOut(s.ServiceProblems), ClockOffset: offset,
	}, nil
}

func serviceProblemsOut(problems []site.ServiceProblem) []*droverv1.ServiceProblem {
	out := make([]*droverv1.ServiceProblem, len(problems))
	for i, p := range problems {
		out[i] = &droverv1.ServiceProblem{Service: p.Service, Reason: p.Reason}
		if p.Withdrawn > 0 {
			out[i].WithdrawnFor = rpc.Duration(p.Withdrawn)
		}
		if p.Delay > 0 {
			out[i].Delay = rpc.Duration(p.Delay)
		}
	}
	return out
}

// GetSite returns the site with its queue and its policy's report.
func (h handler) GetSite(ctx context.Context, _ *droverv1.GetSiteRequest) (*droverv1.GetSiteResponse, error) {
	status, err := h.status(ctx)
	if err != nil {
		return nil, err
	}
	about := h.s.About()
	out := &droverv1.GetSiteResponse{Site: siteOut(&about), Status: status}
	report, ok, err := h.s.PolicyReport(ctx)
	if err != nil {
		return nil, err
	}
	if ok {
		out.Policy = reportOut(&report)
	}
	return out, nil
}

func reportOut(r *policy.Report) *droverv1.PolicyState {
	out := &droverv1.PolicyState{Active: r.Active, Figures: figuresOut(r.Figures)}
	for _, s := range r.Switches {
		out.Switches = append(out.Switches, &droverv1.PolicySwitch{
			At: timeOut(s.At), From: s.From, To: s.To,
			Values: figuresOut(s.Values),
		})
	}
	return out
}

func figuresOut(list []policy.Figure) []*droverv1.PolicyFigure {
	out := make([]*droverv1.PolicyFigure, 0, len(list))
	for _, f := range list {
		out = append(out, &droverv1.PolicyFigure{Name: f.Name, Value: f.Value})
	}
	return out
}

// The range of WatchSite's interval.
const (
	shortestInterval = 100 * time.Millisecond
	longestInterval  = time.Hour
)

// WatchSite sends the usage of nodes and jobs.
func (h handler) WatchSite(
	ctx context.Context, req *droverv1.WatchSiteRequest, stream *connect.ServerStream[droverv1.WatchSiteResponse],
) error {
	interval := time.Second
	if req.GetEvery() != nil {
		interval = min(max(req.GetEvery().AsDuration(), shortestInterval), longestInterval)
	}
	return h.s.WatchUsage(ctx, interval, func(u *Usage) error { return stream.Send(h.usageOut(u)) })
}

func (h handler) usageOut(u *Usage) *droverv1.WatchSiteResponse {
	out := &droverv1.WatchSiteResponse{
		At: timestamppb.New(u.At), Waiting: int32(min(u.Waiting, math.MaxInt32)),
		Capabilities: h.s.About().Capabilities,
	}
	for i := range u.Nodes {
		n := &u.Nodes[i]
		out.Nodes = append(out.Nodes, &droverv1.NodeUse{
			Name: n.Name, Processors: n.Processors, Given: n.Allocated, MemoryBytes: n.Memory, Tasks: n.Tasks,
			Away: n.Away != "", AwayReason: n.Away,
		})
	}
	for i := range u.Jobs {
		j := &u.Jobs[i]
		use := &droverv1.JobUse{
			JobId: string(j.Job.ID), Service: j.Job.Service, Owner: j.Job.Owner, Paused: j.Paused, Nodes: j.Nodes,
			Tasks: j.Tasks,
			Share: shareOut(j.Share), Yield: j.Yield, DeclaredCpu: shareOut(j.Declared), NeedCpu: shareOut(j.Need),
			UsedCpu: j.CPURate, UsedMemoryBytes: j.Memory, MeasuredMemoryBytes: j.PeakMemory,
		}
		if n := j.Job.Needs; n != nil {
			use.DeclaredMemoryBytes = n.Memory
		}
		if !j.MeasuredAt.IsZero() {
			use.UsedCpuTime, use.MeasuredAt = durationpb.New(j.CPUTime), timestamppb.New(j.MeasuredAt)
		}
		out.Jobs = append(out.Jobs, use)
	}
	return out
}

func shareOut(s batch.Share) float64 { return float64(s) / float64(batch.One) }

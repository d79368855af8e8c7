package server

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
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

// Describe says what the site is and what it offers.
func (f face) Describe(context.Context, *droverv1.DescribeRequest) (*droverv1.DescribeResponse, error) {
	cfg := &f.s.cfg
	width := widest(cfg, f.s.about.Platform)
	out := &droverv1.DescribeResponse{Site: f.s.siteOut()}
	for _, service := range cfg.Catalogue.Services() {
		out.Services = append(out.Services, serviceOut(service, width))
	}
	return out, nil
}

// siteOut returns what the site is for the wire.
func (s *Server) siteOut() *droverv1.Site {
	cfg, platform := &s.cfg, s.about.Platform
	out := &droverv1.Site{
		Name: cfg.Name, Address: s.url, Speed: cfg.Speed, Policy: cfg.policyName(),
		ApiVersion: apiVersion, Capabilities: s.capabilities(),
		Platform: &droverv1.Platform{Processors: platform.Width()},
		Limits: &droverv1.Limits{
			Width: widest(cfg, platform), Walltime: durationOut(cmp.Or(s.about.MaxWalltime, catalogue.MaxTime)), FileBytes: int64(cfg.Limits.File),
		},
	}
	for _, n := range platform.Nodes {
		out.Platform.Nodes = append(out.Platform.Nodes, &droverv1.Node{
			Name: n.Name, Processors: n.Processors, MemoryBytes: n.Memory,
		})
	}
	return out
}

func widest(cfg *Config, p batch.Platform) int32 {
	if cfg.Limits.Width > 0 {
		return cfg.Limits.Width
	}
	return p.Width()
}

// serviceOut describes a service as a site of so many processors offers it.
func serviceOut(service *catalogue.Service, width int32) *droverv1.Service {
	lo, hi, moldable := service.Widths()
	out := &droverv1.Service{
		Name: service.Name, Doc: service.Doc, WidthMin: lo, WidthMax: max(min(hi, width), lo), Moldable: moldable, MemoryBytes: service.Memory,
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
func (f face) GetStatus(ctx context.Context, req *droverv1.GetStatusRequest) (*droverv1.GetStatusResponse, error) {
	status, err := f.s.statusOut(ctx)
	if err != nil {
		return nil, err
	}
	if req.GetAccuracy() {
		var all []site.Accuracy
		if err := f.s.see(ctx, func() { all = f.s.core.Accuracy() }); err != nil {
			return nil, err
		}
		for i := range all {
			status.Accuracy = append(status.Accuracy, accuracyOut(&all[i]))
		}
	}
	return &droverv1.GetStatusResponse{Status: status}, nil
}

// accuracyOut returns how estimates were kept for the wire.
func accuracyOut(a *site.Accuracy) *droverv1.Accuracy {
	out := func(e site.Errors) *droverv1.Errors {
		return &droverv1.Errors{Bias: durationOut(e.Bias), Median: durationOut(e.Median), P50: durationOut(e.P50), P90: durationOut(e.P90)}
	}
	return &droverv1.Accuracy{
		Service: a.Service, Jobs: int32(a.Jobs), Start: out(a.Start), Completion: out(a.End),
		RunRatio: float64(a.Run) / float64(batch.One), Kind: kindsOut[a.Kind],
	}
}

// SetDraining lets the site take no new jobs, or take them again.
func (f face) SetDraining(ctx context.Context, req *droverv1.SetDrainingRequest) (*droverv1.SetDrainingResponse, error) {
	if err := f.s.setDraining(ctx, req.GetDraining()); err != nil {
		return nil, err
	}
	status, err := f.s.statusOut(ctx)
	if err != nil {
		return nil, err
	}
	return &droverv1.SetDrainingResponse{Status: status}, nil
}

// statusOut returns the site's queue for the wire.
func (s *Server) statusOut(ctx context.Context) (*droverv1.SiteStatus, error) {
	var (
		l        site.Load
		draining bool
		agreed   site.Agreements
	)
	if err := s.see(ctx, func() { l, draining, agreed = s.core.Load(), s.core.Draining(), s.core.Agreements() }); err != nil {
		return nil, err
	}
	stats := s.store.Stats()
	// The batch system gives processors away again before the core has heard what
	// became of the job that had them.
	l.Busy = min(l.Busy, l.Processors)
	return &droverv1.SiteStatus{
		Running: int32(min(l.Running, math.MaxInt32)), Waiting: int32(min(l.Waiting, math.MaxInt32)),
		ProcessorsBusy: l.Busy, Processors: l.Processors, Load: float64(l.Busy) / float64(l.Processors),
		BacklogSeconds: l.Backlog.Seconds(), Ended: l.Ended,
		Draining: draining, Degraded: s.disk.degraded(), Commits: stats.Commits, Syncs: stats.Syncs,
		Bound: int32(min(l.Bound, math.MaxInt32)), Agreements: agreementCountsOut(agreed),
		Data: dataUsageOut(s.depot.Usage()),
	}, nil
}

package server

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch/policy"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// GetSite returns the site with its queue, and what its policy says of itself.
func (f face) GetSite(ctx context.Context, _ *droverv1.GetSiteRequest) (*droverv1.GetSiteResponse, error) {
	status, err := f.s.statusOut(ctx)
	if err != nil {
		return nil, err
	}
	out := &droverv1.GetSiteResponse{Site: f.s.siteOut(), Status: status}
	report, says, err := f.s.policyReport(ctx)
	if err != nil {
		return nil, err
	}
	if says {
		out.Policy = reportOut(&report)
	}
	return out, nil
}

func reportOut(r *policy.Report) *droverv1.PolicyState {
	out := &droverv1.PolicyState{Active: r.Active, Figures: figuresOut(r.Figures)}
	for _, s := range r.Switches {
		out.Switches = append(out.Switches, &droverv1.PolicySwitch{At: timeOut(s.At), From: s.From, To: s.To, Values: figuresOut(s.Values)})
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

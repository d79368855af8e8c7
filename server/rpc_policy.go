package server

import (
	"context"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// GetSite returns the site with its queue.
func (f face) GetSite(ctx context.Context, _ *droverv1.GetSiteRequest) (*droverv1.GetSiteResponse, error) {
	status, err := f.s.statusOut(ctx)
	if err != nil {
		return nil, err
	}
	return &droverv1.GetSiteResponse{Site: f.s.siteOut(), Status: status}, nil
}

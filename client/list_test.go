package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// refusing is an agent that answers every list with one error.
type refusing struct {
	clienttest.Agent
	err   error
	asked int
}

func (r *refusing) ListSites(context.Context, *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	r.asked++
	return nil, r.err
}

func TestListsTryTheNextAgentUnlessOneRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		first error
		next  int // how often the second agent is asked
	}{
		"a refusal would be the same elsewhere": {
			clienttest.Refusal(connect.CodeInvalidArgument, &droverv1.ErrorDetail{
				Reason: string(problem.BadValue), Message: "filter",
			}), 0,
		},
		"a broken call would not": {connect.NewError(connect.CodeUnavailable, errors.New("broken")), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := patient(10 * time.Second)
				cfg.Agents = []string{"http://first", "http://second"}
				w, c := newWorld(t, cfg)
				first, second := &refusing{err: tc.first},
					&refusing{err: clienttest.Refusal(connect.CodeInternal,
						&droverv1.ErrorDetail{Reason: string(problem.Internal)})}
				for host, agent := range map[string]*refusing{"first": first, "second": second} {
					path, h := droverv1connect.NewAgentServiceHandler(agent)
					w.Net.Serve(t, host, path, h)
				}
				if _, err := c.Sites(t.Context()); err == nil || first.asked != 1 || second.asked != tc.next {
					t.Errorf("%v; asked %d and %d times", err, first.asked, second.asked)
				}
			})
		})
	}
}

package agent

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Map finds the site that would finish a request first.
func (f face) Map(ctx context.Context, req *droverv1.MapRequest) (*droverv1.MapResponse, error) {
	r := req.GetRequest()
	if err := checkRequest(r); err != nil {
		return nil, err
	}
	if d := req.GetDeadline(); d != nil && (d.CheckValid() != nil || d.AsDuration() <= 0) {
		return nil, &problem.Problem{Reason: problem.OutOfRange, Field: "deadline", Message: d.String(), Accepted: "above 0s"}
	}
	patience := f.a.patienceFor(ctx, req.GetDeadline().AsDuration())
	began := time.Now()
	st, err := f.a.stockOf(ctx, patience/2, r)
	if err != nil {
		return nil, err
	}
	if st != nil {
		r, patience = st.filled(r), max(patience-time.Since(began), patience/2)
	}
	c, err := f.a.choose(ctx, patience, inquiry{
		service: r.GetService(), only: r.GetSite(), input: inputBytes(r, false), stock: st, from: r.GetInputSite(), negotiate: req.GetNegotiate(),
		calibrate: f.a.cfg.Mapping.Calibrate && r.GetAgreement() == nil, // what is agreed on is as it is told
		estimate: func(ctx context.Context, p *peer, notBefore batch.Duration) result[mapping.Answer] {
			return p.estimate(ctx, r, notBefore)
		},
	})
	if err != nil {
		return nil, err
	}
	res := &droverv1.MapResponse{Targets: c.targets(), Decision: c.record(f.a.cfg.Name)}
	f.a.log.Debug("mapped", "job", req.GetJobId(), "service", r.GetService(), "site", res.GetDecision().GetChosen())
	return res, nil
}

// checkRequest refuses what no site could accept. The servers check the rest:
// they know the service.
func checkRequest(r *droverv1.Request) error {
	switch {
	case r == nil:
		return &problem.Problem{Reason: problem.BadValue, Field: "request", Message: "missing", Accepted: "a request"}
	case r.GetService() == "":
		return &problem.Problem{Reason: problem.BadValue, Field: "request.service", Message: "empty", Accepted: "the name of a service"}
	case r.GetWidth() < 0 || r.GetWidth() > batch.MaxProcessors:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.width", Message: fmt.Sprint(r.GetWidth()),
			Accepted: fmt.Sprintf("1..%d, or 0 to let the server choose", batch.MaxProcessors),
		}
	case r.GetWalltime() != nil && (r.GetWalltime().CheckValid() != nil || r.GetWalltime().AsDuration() <= 0):
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.walltime", Message: fmt.Sprintf("%ds", r.GetWalltime().GetSeconds()),
			Accepted: "above 0s, or none to let the server choose",
		}
	case r.GetInputBytes() < 0:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.input_bytes", Message: fmt.Sprint(r.GetInputBytes()), Accepted: "0 or more",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.GetArguments())) {
		if size := contentOf(r.GetArguments()[name]).GetSizeBytes(); size < 0 {
			return &problem.Problem{
				Reason: problem.OutOfRange, Field: "request.arguments." + name,
				Message: fmt.Sprintf("a file of %d bytes", size), Accepted: "0 bytes or more",
			}
		}
	}
	return nil
}

// contentOf returns the content of a file, a vector or a matrix; nil of another value.
func contentOf(v *droverv1.Value) *droverv1.File {
	if a := v.GetArrayValue(); a != nil {
		return a.GetContent()
	}
	return v.GetFileValue()
}

// inputBytes returns what has to travel to the site of a request: with stored or without
// the data that it names by handles.
func inputBytes(r *droverv1.Request, stored bool) int64 {
	if r.GetInputBytes() > 0 {
		return r.GetInputBytes()
	}
	var sum int64
	for _, v := range r.GetArguments() {
		f := contentOf(v)
		if f.GetDataId() != "" && !stored {
			continue
		}
		size := sizeOf(v)
		if size > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += size
	}
	return sum
}

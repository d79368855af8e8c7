package agent

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// durationOut returns d for the wire.
func durationOut(d batch.Duration) *durationpb.Duration { return rpc.Duration(d) }

// durationIn returns d in the cores' unit, 0 for nil. What is outside of a
// protobuf Duration's range is cut to it.
func durationIn(d *durationpb.Duration) batch.Duration {
	s := min(max(d.GetSeconds(), -rpc.LongestDuration), rpc.LongestDuration)
	return batch.Duration(s)*batch.Second + batch.Duration(d.GetNanos()/1000)
}

// loadIn returns a site's queue in the words of the mapper.
func loadIn(s *droverv1.SiteStatus) mapping.Load {
	return mapping.Load{
		Running: s.GetRunning(), Waiting: s.GetWaiting(), Busy: s.GetProcessorsBusy(), Draining: s.GetDraining(),
	}
}

// recordIn returns how a site's estimates were kept in the words of the mapper; nil
// if nobody knows.
func recordIn(a *droverv1.Accuracy) *mapping.Record {
	if a.GetJobs() < 1 || a.GetStart() == nil || !(a.GetRunRatio() >= 0) {
		return nil
	}
	return &mapping.Record{
		Jobs: int(a.GetJobs()), Start: durationIn(a.GetStart().GetMedian()), Run: batch.Share(min(a.GetRunRatio(), 1024) * float64(batch.One)),
	}
}

// kindsIn and kindsOut translate the kinds of estimate.
var (
	kindsIn = map[droverv1.EstimateKind]batch.Kind{
		droverv1.EstimateKind_ESTIMATE_KIND_PROMISED: batch.Promised,
		droverv1.EstimateKind_ESTIMATE_KIND_PLANNED:  batch.Planned,
		droverv1.EstimateKind_ESTIMATE_KIND_PROBABLE: batch.Probable,
		droverv1.EstimateKind_ESTIMATE_KIND_FORECAST: batch.Forecast,
	}
	kindsOut = map[batch.Kind]droverv1.EstimateKind{
		batch.Promised: droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
		batch.Planned:  droverv1.EstimateKind_ESTIMATE_KIND_PLANNED,
		batch.Probable: droverv1.EstimateKind_ESTIMATE_KIND_PROBABLE,
		batch.Forecast: droverv1.EstimateKind_ESTIMATE_KIND_FORECAST,
	}
)

var missingOut = map[mapping.Missing]droverv1.MissingReason{
	mapping.Timeout:     droverv1.MissingReason_MISSING_REASON_TIMEOUT,
	mapping.Unreachable: droverv1.MissingReason_MISSING_REASON_UNREACHABLE,
	mapping.Refused:     droverv1.MissingReason_MISSING_REASON_REFUSED,
}

// missingMessage returns why a result is not there, nil if it is.
func missingMessage(m mapping.Missing, p *problem.Problem) *droverv1.Missing {
	if m == mapping.Answered {
		return nil
	}
	return &droverv1.Missing{Reason: missingOut[m], Detail: rpc.DetailOf(p)}
}

// record returns the decision record of a choice.
func (c *choice) record(agent string) *droverv1.DecisionRecord {
	r := &droverv1.DecisionRecord{MadeAt: timestamppb.New(c.madeAt), Agent: agent}
	if best, ok := c.decision.Chosen(); ok {
		r.Chosen = best.Site
	}
	for i := range c.decision.Candidates {
		d := &c.decision.Candidates[i]
		m := &droverv1.Candidate{Site: d.Site, Transfer: durationOut(d.Transfer)}
		if d.Missing != mapping.Answered {
			m.Missing = missingMessage(d.Missing, c.results[d.Answer].problem)
		} else {
			m.Wait, m.Run, m.Completion = durationOut(d.Wait), durationOut(d.Run), durationOut(d.Completion)
			m.Margin, m.StateAge, m.Walltime = durationOut(d.Margin), durationOut(d.Age), durationOut(d.Walltime)
			m.Width, m.Kind, m.Probability = d.Width, kindsOut[d.Kind], d.P
			if d.Correction != 0 {
				m.Correction = durationOut(d.Correction)
			}
		}
		r.Candidates = append(r.Candidates, m)
	}
	// Who was asked for data alone is among those that are missing, by name.
	for i := range c.silent {
		s := &c.silent[i]
		if !slices.ContainsFunc(r.Candidates, func(m *droverv1.Candidate) bool { return m.GetSite() == s.site }) {
			p := *s.problem
			p.Message = "as a source of data: " + p.Message
			r.Candidates = append(r.Candidates, &droverv1.Candidate{Site: s.site, Missing: missingMessage(s.missing, &p)})
		}
	}
	slices.SortStableFunc(r.Candidates[c.decision.Ranked:], func(a, b *droverv1.Candidate) int { return strings.Compare(a.GetSite(), b.GetSite()) })
	return r
}

// targets returns where to submit, best first.
func (c *choice) targets() []*droverv1.Target {
	var out []*droverv1.Target
	for _, d := range c.decision.Candidates[:c.decision.Ranked] {
		out = append(out, &droverv1.Target{Site: d.Site, Address: c.sites[d.Answer].Address})
	}
	return out
}

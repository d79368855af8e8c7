package site

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Agreement makes a request's deadline one that is kept or refused.
type Agreement struct {
	Value      float64 `json:"value,omitempty"`      // of keeping it
	Penalty    float64 `json:"penalty,omitempty"`    // of breaking it
	Checkpoint bool    `json:"checkpoint,omitempty"` // the job can be stopped and go on from there
}

// validate checks what a request says of its agreement.
func (r *Request) validateAgreement() error {
	a := r.Agreement
	if a == nil {
		return nil
	}
	switch {
	case r.Deadline == 0:
		return problem.Field(problem.BadValue, "request.deadline", "a deadline to agree on", "none")
	case r.Into != "":
		return problem.Field(problem.BadValue, "request.into", "no reservation, which is an agreement by itself", "%.70q", r.Into)
	case !(a.Value >= 0 && a.Value <= math.MaxFloat64):
		return problem.Field(problem.OutOfRange, "request.agreement.value", "0 or more", "%g", a.Value)
	case !(a.Penalty >= 0 && a.Penalty <= math.MaxFloat64):
		return problem.Field(problem.OutOfRange, "request.agreement.penalty", "0 or more", "%g", a.Penalty)
	}
	return nil
}

// agreed returns what a request agrees on, with what its service says of itself; nil for
// nothing.
func (s *Site) agreed(r *Request) *Agreement {
	if r.Agreement == nil {
		return nil
	}
	a := *r.Agreement
	if s.config.Catalogue != nil {
		service, err := s.config.Catalogue.Service(r.Service)
		a.Checkpoint = a.Checkpoint || err == nil && service.Checkpointable
	}
	return &a
}

// AgreementState is what has become of the agreement about a job.
type AgreementState uint8

// The states of an agreement.
const (
	NotAgreed    AgreementState = iota
	AgreedOpen                  // the job has not ended
	AgreedKept                  // completed by the deadline
	BrokenByUser                // the job outran its estimate, or failed by itself
	BrokenBySite                // whatever else it was
	AgreedVoid                  // the job was cancelled
)

var agreementNames = [...]string{
	NotAgreed: "", AgreedOpen: "open", AgreedKept: "kept", BrokenByUser: "broken-by-user", BrokenBySite: "broken-by-site", AgreedVoid: "void",
}

// String returns the state's name, "" for none.
func (s AgreementState) String() string {
	if int(s) < len(agreementNames) {
		return agreementNames[s]
	}
	return "unspecified"
}

func parseAgreement(name string) (AgreementState, bool) {
	for i, n := range agreementNames {
		if n == name {
			return AgreementState(i), true
		}
	}
	return 0, false
}

// Agreements counts what has become of a site's agreements. The counts outlive its
// jobs.
type Agreements struct {
	Accepted int64   `json:"accepted"`
	Kept     int64   `json:"kept"`
	ByUser   int64   `json:"by_user"`
	BySite   int64   `json:"by_site"`
	Void     int64   `json:"void"`
	Value    float64 `json:"value"`   // of those that were kept
	Penalty  float64 `json:"penalty"` // of those that the site has broken
}

// Agreements returns the counts.
func (s *Site) Agreements() Agreements { return s.agreements }

// RestoreAgreements gives a site the counts of an earlier life.
func (s *Site) RestoreAgreements(a Agreements) { s.agreements = a }

// judged says what has become of an agreement about a job that has ended.
func (j *Job) judged() AgreementState {
	switch {
	case j.State == Cancelled:
		return AgreedVoid
	case j.State == Done && j.Ended <= j.Needs.Deadline:
		return AgreedKept
	case j.Retried > 0: // the place that was agreed on is used up
		return BrokenByUser
	case j.State == Done || j.late():
		return BrokenBySite
	case j.State == Killed && j.Ended.Sub(j.Started) < j.left(): // it was shortened
		return BrokenBySite
	case j.State == Killed || j.Outcome().End == batch.EndFailed:
		return BrokenByUser
	}
	return BrokenBySite
}

// late says that the place which a job got could not keep its agreement, whatever the
// job did then.
func (j *Job) late() bool {
	return j.Started == batch.Never || j.Started.Add(j.left()) > j.Needs.Deadline
}

// judge counts what has become of the agreement about a job that has just ended.
func (s *Site) judge(j *Job) {
	if j.agreement != AgreedOpen || j.Needs == nil || j.Needs.Agreed == nil {
		return
	}
	a := &s.agreements
	s.change(j, func() { j.agreement = j.judged() })
	switch j.agreement {
	case AgreedKept:
		a.Kept++
		a.Value += j.Needs.Agreed.Value
	case BrokenByUser:
		a.ByUser++
	case BrokenBySite:
		a.BySite++
		a.Penalty += j.Needs.Agreed.Penalty
	case AgreedVoid:
		a.Void++
	}
}

// Agreement returns what has become of the agreement about a job.
func (j *Job) Agreement() AgreementState { return j.agreement }

// Revoke forgets a job with an agreement that the batch system has refused, before
// anybody has heard of it.
func (s *Site) Revoke(id batch.JobID) {
	j := s.book.byID[id]
	if j == nil || !j.fresh {
		return
	}
	s.book.load.count(j, s.charge(j), -1)
	s.book.remove(j)
	for i, d := range s.dirty {
		if d == j {
			s.dirty = append(s.dirty[:i], s.dirty[i+1:]...)
			break
		}
	}
	s.agreements.Accepted--
}

// keeps says whether an estimate of a kind is something to agree on.
func keeps(k batch.Kind) bool {
	return k == batch.Promised || k == batch.Planned || k == batch.Probable
}

// agree is conclude for a request with an agreement: c is what the planner answers.
func (s *Site) agree(now batch.Time, q Question, job *batch.Job, menu []batch.Shape, c choice, planner Planner) (Quote, error) {
	r := q.Request
	if c.index >= 0 && c.end <= r.Deadline && keeps(c.kind) {
		return quoteOf(now, menu, c), nil
	}
	// What could be agreed on instead?
	free := *job
	free.Deadline = 0
	ask := batch.Ask{Job: &free, Shapes: menu, From: from(now, q)}
	c, ok := s.tuner.tune(now, ask, planner)
	if ok && c.index < 0 { // it may be the agreement that cannot be had
		free.Agreed = false
		if c, ok = s.tuner.tune(now, ask, planner); c.index >= 0 {
			c.kind = batch.Forecast
		}
	}
	switch {
	case !ok:
		return Quote{}, ErrNoPlan
	case c.index < 0:
		return Quote{}, problem.Field(problem.CannotRun, "request", "needs that the site's nodes meet", "no shape of it can ever start here")
	case !keeps(c.kind):
		return Quote{}, &problem.Problem{
			Reason: problem.NoPromise, Field: "request.agreement", Accepted: "no agreement, or a site whose policy plans", Hint: "--best-effort asks for none",
			Message: fmt.Sprintf("site %s can only forecast when it would be completed, and promises nothing", s.config.Name),
		}
	}
	quote := quoteOf(now, menu, c)
	refusal := problem.Field(problem.NoOffer, "request.deadline", fmt.Sprintf("at least %v from now", reachable(quote.Completion)),
		"%v from now", r.Deadline.Sub(now).CeilSeconds())
	refusal.Offer = &problem.Offer{
		Site: s.config.Name, Wait: quote.Wait.Std(), Completion: quote.Completion.Std(), Width: quote.Shape.Width,
	}
	return Quote{}, refusal
}

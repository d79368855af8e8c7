package site

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Agreement makes the deadline of a request binding: the site keeps it or refuses the request.
type Agreement struct {
	Value      float64 `json:"value,omitempty"`      // of keeping the deadline
	Penalty    float64 `json:"penalty,omitempty"`    // of missing it
	Checkpoint bool    `json:"checkpoint,omitempty"` // the job can be stopped and can continue from a checkpoint
}

// validateAgreement checks the agreement of a request.
func (r *Request) validateAgreement() error {
	a := r.Agreement
	if a == nil {
		return nil
	}
	switch {
	case r.Deadline == 0:
		return problem.Field(problem.BadValue, "request.deadline", "a deadline to agree on", "none")
	case r.Into != "":
		return problem.Field(problem.BadValue, "request.into", "no reservation, which is an agreement by itself",
			"%.70q", r.Into)
	case !(a.Value >= 0 && a.Value <= math.MaxFloat64):
		return problem.Field(problem.OutOfRange, "request.agreement.value", "0 or more", "%g", a.Value)
	case !(a.Penalty >= 0 && a.Penalty <= math.MaxFloat64):
		return problem.Field(problem.OutOfRange, "request.agreement.penalty", "0 or more", "%g", a.Penalty)
	}
	return nil
}

// agreed returns the agreement of a request, completed by what its service says; nil for none.
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

// AgreementState is the state of the agreement about a job.
type AgreementState uint8

// The states of an agreement.
const (
	NotAgreed    AgreementState = iota
	AgreedOpen                  // the job has not ended
	AgreedKept                  // completed by the deadline
	BrokenByUser                // the job exceeded its estimate or failed by itself
	BrokenBySite                // any other failure to keep it
	AgreedVoid                  // the job was cancelled
)

var agreementNames = [...]string{
	NotAgreed: "", AgreedOpen: "open", AgreedKept: "kept", BrokenByUser: "broken-by-user",
	BrokenBySite: "broken-by-site", AgreedVoid: "void",
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

// Agreements counts a site's agreements by their result. The counts include forgotten jobs.
type Agreements struct {
	Accepted int64   `json:"accepted"`
	Kept     int64   `json:"kept"`
	ByUser   int64   `json:"by_user"`
	BySite   int64   `json:"by_site"`
	Void     int64   `json:"void"`
	Value    float64 `json:"value"`   // of those that were kept
	Penalty  float64 `json:"penalty"` // of those that the site broke
}

// Agreements returns the counts.
func (s *Site) Agreements() Agreements { return s.agreements }

// RestoreAgreements sets the counts of an earlier run.
func (s *Site) RestoreAgreements(a Agreements) { s.agreements = a }

// agreementResult returns the result of the agreement about a job that has ended.
func (j *Job) agreementResult() AgreementState {
	switch {
	case j.State == Cancelled:
		return AgreedVoid
	case j.State == Done && j.Ended <= j.Needs.Deadline:
		return AgreedKept
	case j.Retried > 0: // the agreed slot is used up
		return BrokenByUser
	case j.State == Done || j.startedTooLate():
		return BrokenBySite
	case j.State == Killed && j.Ended.Sub(j.Started) < j.left(): // its slot was shortened
		return BrokenBySite
	case j.State == Killed || j.Outcome().End == batch.EndFailed:
		return BrokenByUser
	}
	return BrokenBySite
}

// startedTooLate reports whether the slot of a job was too late for its deadline, whatever the job
// did.
func (j *Job) startedTooLate() bool {
	return j.Started == batch.Never || j.Started.Add(j.left()) > j.Needs.Deadline
}

// settleAgreement counts the result of the agreement about a job that has just ended.
func (s *Site) settleAgreement(j *Job) {
	if j.agreement != AgreedOpen || j.Needs == nil || j.Needs.Agreed == nil {
		return
	}
	a := &s.agreements
	s.change(j, func() { j.agreement = j.agreementResult() })
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

// Agreement returns the state of the agreement about a job.
func (j *Job) Agreement() AgreementState { return j.agreement }

// Revoke removes a new job after the batch system refused its agreement. Its submission was not
// answered yet.
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

// binding reports whether an agreement can rest on an estimate of this kind.
func binding(k batch.Kind) bool {
	return k == batch.Promised || k == batch.Planned || k == batch.Probable
}

// quoteAgreement is finishQuote for a request with an agreement; c is the answer of the planner.
func (s *Site) quoteAgreement(
	now batch.Time, q Question, job *batch.Job, menu []batch.Shape, c choice, planner Planner,
) (Quote, error) {
	r := q.Request
	if c.index >= 0 && c.end <= r.Deadline && binding(c.kind) {
		return quoteOf(now, menu, c), nil
	}
	// Find the nearest alternative for the refusal.
	free := *job
	free.Deadline = 0
	ask := batch.Ask{Job: &free, Shapes: menu, From: s.from(now, q)}
	c, ok := s.tuner.tune(now, ask, planner)
	if ok && c.index < 0 { // perhaps only the agreement is impossible
		free.Agreed = false
		if c, ok = s.tuner.tune(now, ask, planner); c.index >= 0 {
			c.kind = batch.Forecast
		}
	}
	switch {
	case !ok:
		return Quote{}, ErrNoPlan
	case c.index < 0:
		return Quote{}, problem.Field(problem.CannotRun, "request", "needs that the site's nodes meet",
			"no shape of it can ever start here")
	case !binding(c.kind):
		return Quote{}, &problem.Problem{
			Reason: problem.NoPromise, Field: "request.agreement",
			Accepted: "no agreement, or a site whose policy plans", Hint: "--best-effort asks for none",
			Message: fmt.Sprintf("site %s can only forecast when it would be completed, and promises nothing",
				s.config.Name),
		}
	}
	quote := quoteOf(now, menu, c)
	refusal := problem.Field(problem.NoOffer, "request.deadline",
		fmt.Sprintf("at least %v from now", reachable(quote.Completion)),
		"%v from now", r.Deadline.Sub(now).CeilSeconds())
	refusal.Offer = &problem.Offer{
		Site: s.config.Name, Wait: quote.Wait.Std(), Completion: quote.Completion.Std(), Width: quote.Shape.Width,
	}
	return Quote{}, refusal
}

package site

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// The limits of offers.
const (
	// firstWithdrawal and longestWithdrawal bound how long a service is withdrawn after its program
	// could not be executed.
	firstWithdrawal   = 30 * batch.Second
	longestWithdrawal = 10 * batch.Minute
	// nextProbe is the pause of a job while another one tries whether the program is back.
	nextProbe = batch.Second

	// A job that fails within quickRun fails at once. After quickFailures in a row the jobs of a
	// service are expected later, by firstDelay to longestDelay, until one runs for longer or
	// forgetFailures have passed.
	quickRun       = batch.Second
	quickFailures  = 5
	firstDelay     = 30 * batch.Second
	longestDelay   = batch.Hour
	forgetFailures = 10 * batch.Minute
)

// offer holds the problems of the services that a site offers. A site on which a program is
// missing ends its jobs faster than any other site, so its estimates would attract all jobs.
//
//	              not executable                    the time ends
//	offered ───────────────────▶ withdrawn ───────────────────▶ one job tries ──▶ offered, or
//	                             30 s .. 10 min                                   withdrawn for longer
//
// It is not durable: a server that starts tries every service again.
type offer map[string]*serviceHealth

// serviceHealth is what is wrong with a service.
type serviceHealth struct {
	reason    string         // of the last failed launch
	withdrawn batch.Duration // how long the last failed launch withdrew it; 0 after a launch
	until     batch.Time     // when it is offered again
	probe     batch.JobID    // the job that tries whether the program is back, while it is Starting

	failures int        // in a row, each within quickRun
	failed   batch.Time // the last of them
	how      string     // the last of them ended
}

// delay returns how much later than planned the service's jobs are expected to start.
func (h *serviceHealth) delay(now batch.Time) batch.Duration {
	if h == nil || h.failures < quickFailures || now.Sub(h.failed) >= forgetFailures {
		return 0
	}
	return min(firstDelay<<min(h.failures-quickFailures, 10), longestDelay)
}

func (o offer) of(service string) *serviceHealth {
	h := o[service]
	if h == nil {
		h = &serviceHealth{}
		o[service] = h
	}
	return h
}

// clone returns a copy, for a draft.
func (o offer) clone() offer {
	out := make(offer, len(o))
	for name, h := range o {
		own := *h
		out[name] = &own
	}
	return out
}

// noteLaunch reports that an attempt of a service was launched.
func (o offer) noteLaunch(service string) {
	if h := o[service]; h != nil {
		h.withdrawn, h.until = 0, 0
	}
}

// noteEnd reports how an attempt ended.
func (o offer) noteEnd(now batch.Time, j *Job, how batch.Outcome) {
	h := o[j.Service]
	switch {
	case how.NotExecutable:
		h = o.of(j.Service)
		if now >= h.until {
			h.withdrawn = min(max(2*h.withdrawn, firstWithdrawal), longestWithdrawal)
			h.until = now.Add(h.withdrawn)
		}
		h.reason = how.Reason
	case how.End == batch.EndFailed && j.Started != batch.Never && now.Sub(j.Started) < quickRun:
		h = o.of(j.Service)
		if now.Sub(h.failed) >= forgetFailures {
			h.failures = 0
		}
		h.failures++
		h.failed, h.how = now, how.Reason
	case how.End == batch.EndFailed || how.End == batch.EndDone || how.End == batch.EndKilled:
		if h != nil {
			h.failures = 0
		}
	}
}

// ServiceProblem is what is wrong with a service of a site.
type ServiceProblem struct {
	Service string
	Reason  string // public message
	// Withdrawn is for how long the site does not offer it. Its waiting jobs move.
	Withdrawn batch.Duration
	// Delay is how much later than planned its jobs are expected to start.
	Delay batch.Duration
}

// ServiceProblems returns the services with problems, by name.
func (s *Site) ServiceProblems(now batch.Time) []ServiceProblem {
	var out []ServiceProblem
	for _, name := range slices.Sorted(maps.Keys(s.offer)) {
		if p, found := s.ServiceProblem(now, name); found {
			out = append(out, p)
		}
	}
	return out
}

// ServiceProblem returns what is wrong with a service, if anything is.
func (s *Site) ServiceProblem(now batch.Time, service string) (ServiceProblem, bool) {
	h := s.offer[service]
	if h == nil {
		return ServiceProblem{}, false
	}
	p := ServiceProblem{Service: service, Withdrawn: max(h.until.Sub(now), 0), Delay: h.delay(now)}
	switch {
	case p.Withdrawn > 0:
		p.Reason = h.reason
	case p.Delay > 0:
		p.Reason = fmt.Sprintf("%d jobs in a row failed at once: %s", h.failures, h.how)
	default:
		return ServiceProblem{}, false
	}
	return p, true
}

// withdrawn returns the problem of requests for a service that the site does not offer now, or nil.
func (s *Site) withdrawn(now batch.Time, service string) error {
	h := s.offer[service]
	if h == nil || now >= h.until {
		return nil
	}
	return &problem.Problem{
		Reason: problem.ServiceWithdrawn, Retryable: true, Accepted: "another site, or later",
		Message: fmt.Sprintf("site %s does not offer service %s for %v: %s", s.config.Name, service,
			h.until.Sub(now), h.reason),
		Hint: "drover sites shows what is wrong",
	}
}

// MayLaunch returns an error if an attempt must wait, because the program of its service could not
// be executed. When the service is offered again, it lets one job try.
func (s *Site) MayLaunch(now batch.Time, key batch.Key) error {
	j, err := s.attempt(key)
	if err != nil {
		return err
	}
	h := s.offer[j.Service]
	if h == nil || h.withdrawn == 0 {
		return nil
	}
	if probe := s.book.byID[h.probe]; now >= h.until && (probe == nil || probe == j || probe.State != Starting) {
		h.probe = j.ID
		return nil
	}
	return fmt.Errorf("service %s could not be launched: %s", j.Service, h.reason)
}

// notBefore returns when a job that has to be launched again may be launched, 0 for now.
func (s *Site) notBefore(now batch.Time, j *Job) batch.Time {
	if h := s.offer[j.Service]; h != nil && h.withdrawn > 0 {
		return max(h.until, now.Add(nextProbe))
	}
	return 0
}

package session

import (
	"errors"
	"fmt"
)

// errNoTarget is the failure of an agent that answers with an empty ranking.
var errNoTarget = errors.New("the agent named no site")

// UnknownError says that nobody knows whether a job was accepted: its submission
// was sent to a server, and no answer came. The job may run.
type UnknownError struct {
	Job    string // ID
	Target Target // the only server that may have it
	Err    error  // the last failure
}

// Error names the job and the site.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("job %s: whether site %s has accepted it is unknown: %v", e.Job, e.Target.Site, e.Err)
}

// Unwrap returns the last failure.
func (e *UnknownError) Unwrap() error { return e.Err }

// Submission brings one request to a server, once. It is made by NewSubmission,
// and every method but that is given the present time and returns what to do.
type Submission struct {
	cfg     Config
	job     string
	retry   retry
	agent   int // asked last
	asked   int // agents asked in this round
	targets []Target
	at      int  // the target tried last
	sent    bool // targets[at] may know of the job: it belongs there
	silent  bool // a submission was sent and not answered
	later   bool // a target of this ranking may be reached later
	last    Action
}

// NewSubmission returns the submission of the request with this job ID.
func NewSubmission(cfg Config, job string) *Submission {
	return &Submission{cfg: cfg, job: job, retry: retry{patience: cfg.Patience}}
}

// Start begins.
func (s *Submission) Start(Time) Action { return s.mapAt(0) }

// Mapped takes an agent's ranking, best first.
func (s *Submission) Mapped(now Time, targets []Target) Action {
	if len(targets) == 0 {
		return s.Failed(now, Failure{Kind: Busy, Err: errNoTarget})
	}
	s.targets, s.later = targets, false
	return s.submitTo(0)
}

// Accepted takes the server's answer that the job is its own.
func (s *Submission) Accepted(Time) Action {
	return s.act(Action{Do: Done, Target: s.targets[s.at]})
}

// Failed takes the failure of a Map or Submit.
func (s *Submission) Failed(now Time, f Failure) Action {
	s.retry.failed(now)
	switch {
	case s.last.Do == Map && f.Kind == Refused:
		return s.fail(f.Err)
	case s.last.Do == Map && s.asked < s.cfg.Agents:
		return s.mapAt((s.agent + 1) % s.cfg.Agents)
	case s.last.Do == Map:
		return s.wait(now, f.Err)
	}
	if f.Kind == Unsent || f.Kind == Unfit {
		s.later = s.later || f.Kind == Unsent
		switch {
		case !s.sent && s.at+1 < len(s.targets):
			return s.submitTo(s.at + 1)
		case s.later:
			return s.wait(now, f.Err)
		}
		return s.fail(f.Err)
	}
	if !s.sent { // from here on it is another question: what became of it there
		s.sent = true
		s.retry.fine()
	}
	s.silent = s.silent || f.Kind == Silent
	if f.Kind == Refused || f.Kind == Absent {
		return s.fail(f.Err)
	}
	return s.wait(now, f.Err)
}

// Awake takes the end of a Pause.
func (s *Submission) Awake(Time) Action {
	if s.sent {
		return s.submitTo(s.at)
	}
	s.asked = 0
	return s.mapAt((s.agent + 1) % s.cfg.Agents)
}

// Abandon takes the caller's wish to stop, because of err.
func (s *Submission) Abandon(_ Time, err error) Action { return s.fail(err) }

func (s *Submission) mapAt(agent int) Action {
	s.agent = agent
	s.asked++
	return s.act(Action{Do: Map, Agent: agent})
}

func (s *Submission) submitTo(i int) Action {
	s.at = i
	return s.act(Action{Do: Submit, Target: s.targets[i]})
}

func (s *Submission) wait(now Time, err error) Action {
	until, ok := s.retry.until(now)
	if !ok {
		return s.fail(err)
	}
	return s.act(Action{Do: Pause, Until: until, Err: err})
}

// fail ends it. A refusal after a silence proves nothing about the submission
// that was not answered, which may still be under way.
func (s *Submission) fail(err error) Action {
	if s.silent {
		err = &UnknownError{Job: s.job, Target: s.targets[s.at], Err: err}
	}
	return s.act(Action{Do: Fail, Err: err})
}

func (s *Submission) act(a Action) Action {
	s.last = a
	return a
}

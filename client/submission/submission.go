package submission

import "slices"

// repeats is how many consecutive submissions can stay unanswered before the job is
// withdrawn, if there is another site.
const repeats = 2

// Submission brings one request to one server. Every method takes the present time and
// returns what to do next.
type Submission struct {
	cfg   Config
	job   string
	avoid string // site of last resort
	retry retry

	agent int // asked last
	asked int // agents asked in this round

	at    Target   // the target of the last try
	rest  []Target // the rest of the ranking
	left  []string // sites that have withdrawn the job: they will never accept it
	later bool     // a target of this ranking may be reachable later

	// About the target at:
	sent    bool  // it may have received the job: the job belongs there
	silent  bool  // a submission there was not answered
	quiet   int   // consecutive submissions without an answer
	leaving bool  // the job is being withdrawn there
	bound   bool  // it does not withdraw jobs: the job stays
	remap   bool  // it cannot accept the job now: map again, for a site that can
	tries   int   // calls about the job
	why     error // failure of the last submission
	last    Action
}

// NewSubmission returns the submission of the request with this job ID. A site to avoid,
// which may be empty, is tried only if there is no other.
func NewSubmission(cfg Config, job, avoid string) *Submission {
	return &Submission{cfg: cfg, job: job, avoid: avoid, retry: retry{patience: cfg.Patience}}
}

// Start begins.
func (s *Submission) Start(Time) Action { return s.mapAt(0) }

// Mapped takes an agent's ranking, best first.
func (s *Submission) Mapped(now Time, targets []Target) Action {
	if len(targets) == 0 {
		return s.Failed(now, Failure{Kind: Busy, Err: errNoTarget})
	}
	usable := s.usable(targets)
	s.later, s.remap = false, false
	switch {
	case len(usable) == 0 && s.sent:
		return s.submit()
	case len(usable) == 0:
		return s.wait(now, s.why)
	case !s.sent:
		return s.next(usable)
	case usable[0] == s.at:
		s.rest = usable[1:]
		return s.submit()
	}
	s.rest = slices.DeleteFunc(usable, func(t Target) bool { return t.Site == s.at.Site })
	if len(s.rest) == 0 || s.bound { // the same site at another address
		return s.submit()
	}
	return s.leave()
}

// Accepted takes the server's answer that it has the job.
func (s *Submission) Accepted(Time) Action { return s.act(Action{Do: Done, Target: s.at}) }

// Withdrawn takes the server's answer that it has not accepted the job and never will:
// the job may go to another site.
func (s *Submission) Withdrawn(now Time) Action {
	s.left = append(s.left, s.at.Site)
	s.sent, s.silent, s.leaving, s.quiet = false, false, false, 0
	s.retry = retry{patience: s.cfg.Patience}
	if len(s.rest) > 0 {
		return s.next(s.rest)
	}
	return s.fail(now, s.why)
}

// Failed takes the failure of a Map, Submit or Withdraw.
func (s *Submission) Failed(now Time, f Failure) Action {
	s.retry.failed(now)
	switch s.last.Do {
	case Map:
		return s.notMapped(now, f)
	case Withdraw:
		return s.notWithdrawn(now, f)
	}
	if !s.sent && (f.Kind == Unsent || f.Kind == Unfit) {
		s.later = s.later || f.Kind == Unsent
		s.why = f.Err
		switch {
		case len(s.rest) > 0:
			return s.next(s.rest)
		case s.later:
			return s.wait(now, f.Err)
		}
		return s.fail(now, f.Err)
	}
	return s.notAccepted(now, f)
}

// Awake takes the end of a Pause.
func (s *Submission) Awake(Time) Action {
	switch {
	case s.leaving:
		return s.leave()
	case s.sent && !s.remap:
		return s.submit()
	}
	s.asked = 0
	return s.mapAt((s.agent + 1) % s.cfg.Agents)
}

// Abandon ends the submission because of err.
func (s *Submission) Abandon(now Time, err error) Action { return s.fail(now, err) }

func (s *Submission) notMapped(now Time, f Failure) Action {
	switch {
	case f.Kind == Refused:
		return s.fail(now, f.Err)
	case s.asked < s.cfg.Agents:
		return s.mapAt((s.agent + 1) % s.cfg.Agents)
	case s.sent:
		s.remap = false
		return s.submit()
	}
	return s.wait(now, f.Err)
}

// notAccepted takes a failure after which the job belongs to the server.
func (s *Submission) notAccepted(now Time, f Failure) Action {
	if !s.sent { // a new question begins: what became of the job there
		s.sent = true
		s.retry.fine()
		s.retry.failed(now)
	}
	s.why = f.Err
	elsewhere := len(s.rest) > 0 && !s.bound
	switch f.Kind {
	case Silent, Unsent:
		if f.Kind == Silent && !s.silent {
			s.silent = true
			if s.cfg.Rerun > 0 {
				s.retry.patience = s.cfg.Rerun
			}
		}
		s.quiet++
		s.leaving = elsewhere && s.quiet >= repeats
		return s.wait(now, f.Err)
	case Busy:
		if elsewhere {
			return s.leave()
		}
		s.quiet, s.remap = 0, true
		return s.wait(now, f.Err)
	}
	// A refusal after a silence proves nothing about the unanswered submission, which
	// may still be under way. A withdrawal does.
	if elsewhere || s.silent && !s.bound {
		return s.leave()
	}
	return s.fail(now, f.Err)
}

func (s *Submission) notWithdrawn(now Time, f Failure) Action {
	switch f.Kind {
	case Refused, Absent, Unfit:
		s.leaving, s.bound = false, true
	}
	return s.wait(now, f.Err)
}

// usable returns the targets that can take the job.
func (s *Submission) usable(targets []Target) []Target {
	var usable, avoided []Target
	for _, t := range targets {
		switch {
		case slices.Contains(s.left, t.Site):
		case t.Site == s.avoid:
			avoided = append(avoided, t)
		default:
			usable = append(usable, t)
		}
	}
	if len(usable) == 0 {
		return avoided
	}
	return usable
}

func (s *Submission) mapAt(agent int) Action {
	s.agent = agent
	s.asked++
	return s.act(Action{Do: Map, Agent: agent})
}

// next submits to the first of targets.
func (s *Submission) next(targets []Target) Action {
	s.at, s.rest = targets[0], targets[1:]
	s.bound, s.tries = false, 0
	return s.submit()
}

func (s *Submission) submit() Action {
	s.tries++
	return s.act(Action{Do: Submit, Target: s.at})
}

func (s *Submission) leave() Action {
	s.leaving = true
	s.tries++
	return s.act(Action{Do: Withdraw, Target: s.at})
}

func (s *Submission) wait(now Time, err error) Action {
	until, ok := s.retry.until(now)
	switch {
	case ok:
		return s.act(Action{Do: Pause, Until: until, Err: err})
	case s.silent && s.cfg.Rerun > 0:
		return s.act(Action{Do: Rerun, Target: s.at, Err: s.unknown(now, err)})
	case s.silent:
		return s.fail(now, err)
	}
	return s.fail(now, s.retry.gaveUp(now, "", s.at, err))
}

func (s *Submission) fail(now Time, err error) Action {
	if s.silent {
		err = s.unknown(now, err)
	}
	return s.act(Action{Do: Fail, Err: err})
}

func (s *Submission) unknown(now Time, err error) error {
	return &UnknownError{Job: s.job, Target: s.at, After: now.Sub(s.retry.since), Tries: s.tries, Err: err}
}

func (s *Submission) act(a Action) Action {
	s.last = a
	return a
}

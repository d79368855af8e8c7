package submission

import "fmt"

// MaxHops is how many moves of a job one pursuit follows.
const MaxHops = 16

// Pursuit brings a question about a job, or an order, to the server that is the
// job's authority: a watch, a cancel, a read. Every method is given the present
// time and returns what to do.
type Pursuit struct {
	cfg    Config
	job    string
	retry  retry
	agent  int    // asked last
	asked  int    // agents asked since the last visit or pause
	place  Target // where the job was last known to be
	known  bool   // whether place is set and may still have the job
	gone   Target // the server that said it has gone, if any
	epoch  uint32 // the highest seen
	absent int    // how many of the agents asked know nobody who has it
	visits int    // since the last pause
	why    error  // what the last visit failed with
	mute   bool   // it failed because nobody answered
	hops   int
	last   Action
}

// NewPursuit returns a pursuit of a job that is believed to be at a target, with
// the epoch it had there, or of one that may be anywhere when at is zero.
func NewPursuit(cfg Config, job string, at Target, epoch uint32) *Pursuit {
	return &Pursuit{
		cfg: cfg, job: job, retry: retry{patience: cfg.Patience}, agent: -1,
		place: at, known: at != Target{}, epoch: epoch,
	}
}

// Start begins.
func (p *Pursuit) Start(Time) Action {
	if p.known {
		return p.visit()
	}
	return p.find()
}

// Heard notes that a visit under way brings news, so that patience begins anew
// with the next failure. What to do stays the same.
func (p *Pursuit) Heard(epoch uint32) {
	p.retry.fine()
	p.epoch = max(p.epoch, epoch)
	p.why, p.mute = nil, false
}

// Finished takes the end of what the pursuit was for.
func (p *Pursuit) Finished(Time) Action { return p.act(Action{Do: Done, Target: p.place}) }

// Moved takes the visited server's answer that the job has gone elsewhere, under
// this epoch. One that is lower than the highest seen is old news.
func (p *Pursuit) Moved(now Time, epoch uint32) Action {
	if epoch < p.epoch {
		return p.Failed(now, Failure{Kind: Absent, Err: fmt.Errorf("job %s: site %s knows only that it has gone before", p.job, p.place.Site)})
	}
	p.Heard(epoch)
	p.known, p.gone = false, p.place
	if p.hops++; p.hops > MaxHops {
		return p.act(Action{Do: Fail, Err: &HopsError{Job: p.job}})
	}
	return p.find()
}

// Found takes an agent's answer: the server whose claim has the highest epoch.
func (p *Pursuit) Found(now Time, at Target, epoch uint32) Action {
	if epoch < p.epoch || at == p.gone && epoch == p.epoch {
		return p.Failed(now, Failure{Kind: Busy, Err: fmt.Errorf("job %s: on its way from site %s", p.job, at.Site)})
	}
	// Not at once to where it has just failed, whatever it said before, and not
	// round and round.
	again := p.retry.failing && (p.visits > 1 || p.visits > 0 && at == p.place)
	p.place, p.known, p.gone, p.epoch = at, true, Target{}, epoch
	if again {
		return p.wait(now, p.why)
	}
	return p.visit()
}

// Failed takes the failure of a Find or Visit.
func (p *Pursuit) Failed(now Time, f Failure) Action {
	p.retry.failed(now)
	switch {
	case f.Kind == Refused:
		return p.act(Action{Do: Fail, Err: f.Err})
	case p.last.Do == Visit:
		p.why, p.known = f.Err, f.Kind != Absent
		p.mute = f.Kind == Silent || f.Kind == Unsent
		if f.Kind == Busy { // it has the job, and says so
			return p.wait(now, f.Err)
		}
		return p.find()
	case f.Kind == Absent:
		p.absent++
	}
	if p.asked < p.cfg.Agents {
		return p.findNext()
	}
	if p.absent == p.cfg.Agents && !p.known && p.gone == (Target{}) {
		return p.act(Action{Do: Fail, Err: f.Err})
	}
	if p.why != nil { // the job's own server is more to the point than an agent
		return p.wait(now, p.why)
	}
	return p.wait(now, f.Err)
}

// Awake takes the end of a Pause.
func (p *Pursuit) Awake(Time) Action {
	p.visits = 0
	if p.known {
		return p.visit()
	}
	return p.find()
}

func (p *Pursuit) visit() Action {
	p.visits++
	return p.act(Action{Do: Visit, Target: p.place})
}

func (p *Pursuit) find() Action {
	p.asked, p.absent = 0, 0
	return p.findNext()
}

func (p *Pursuit) findNext() Action {
	p.agent = (p.agent + 1) % p.cfg.Agents
	p.asked++
	return p.act(Action{Do: Find, Agent: p.agent})
}

func (p *Pursuit) wait(now Time, err error) Action {
	p.retry.patience = p.cfg.Patience
	rerun := p.cfg.Rerun > 0 && p.mute
	if rerun {
		p.retry.patience = p.cfg.Rerun
	}
	until, ok := p.retry.until(now)
	switch {
	case ok:
		return p.act(Action{Do: Pause, Until: until, Err: err})
	case rerun:
		return p.act(Action{Do: Rerun, Target: p.place, Err: p.retry.gaveUp(now, p.job, p.place, err)})
	}
	return p.act(Action{Do: Fail, Err: p.retry.gaveUp(now, p.job, p.place, err)})
}

func (p *Pursuit) act(a Action) Action {
	p.last = a
	return a
}

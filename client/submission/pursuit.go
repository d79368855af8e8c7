package submission

import "fmt"

// MaxHops bounds the moves of a job that one pursuit follows.
const MaxHops = 16

// Pursuit makes calls about a job (a watch, a cancel, a read) at the server that is the
// job's authority. Every method takes the present time and returns what to do next.
type Pursuit struct {
	cfg    Config
	job    string
	retry  retry
	agent  int    // asked last
	asked  int    // agents asked since the last visit or pause
	at     Target // last known location of the job
	known  bool   // at is set and may still have the job
	gone   Target // the server that said that the job moved away, if any
	epoch  uint32 // the highest seen
	absent int    // how many of the agents asked know no site that has the job
	visits int    // since the last pause
	why    error  // failure of the last visit
	mute   bool   // the last visit got no answer
	hops   int
	last   Action
}

// NewPursuit returns a pursuit of a job that was last at a target with an epoch. A zero
// target is unknown.
func NewPursuit(cfg Config, job string, at Target, epoch uint32) *Pursuit {
	return &Pursuit{
		cfg: cfg, job: job, retry: retry{patience: cfg.Patience}, agent: -1,
		at: at, known: at != Target{}, epoch: epoch,
	}
}

// Start begins.
func (p *Pursuit) Start(Time) Action {
	if p.known {
		return p.visit()
	}
	return p.find()
}

// Progress notes news from a visit under way: the next failure starts with full
// patience. The action stays the same.
func (p *Pursuit) Progress(epoch uint32) {
	p.retry.fine()
	p.epoch = max(p.epoch, epoch)
	p.why, p.mute = nil, false
}

// Finished takes the end of the pursuit's calls.
func (p *Pursuit) Finished(Time) Action { return p.act(Action{Do: Done, Target: p.at}) }

// Moved takes the visited server's answer that the job has moved away under this epoch.
// An epoch below the highest seen is outdated.
func (p *Pursuit) Moved(now Time, epoch uint32) Action {
	if epoch < p.epoch {
		return p.Failed(now, Failure{Kind: Absent, Err: fmt.Errorf("job %s: site %s reports an outdated move", p.job,
			p.at.Site)})
	}
	p.Progress(epoch)
	p.known, p.gone = false, p.at
	if p.hops++; p.hops > MaxHops {
		return p.act(Action{Do: Fail, Err: &HopsError{Job: p.job}})
	}
	return p.find()
}

// Found takes an agent's answer: the server with the claim of the highest epoch.
func (p *Pursuit) Found(now Time, at Target, epoch uint32) Action {
	if epoch < p.epoch || at == p.gone && epoch == p.epoch {
		return p.Failed(now, Failure{Kind: Busy, Err: fmt.Errorf("job %s: on its way from site %s", p.job, at.Site)})
	}
	// Pause before another visit to the server that has just failed, and before the
	// third visit in a row.
	again := p.retry.failing && (p.visits > 1 || p.visits > 0 && at == p.at)
	p.at, p.known, p.gone, p.epoch = at, true, Target{}, epoch
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
		if f.Kind == Busy { // the server has the job
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
	if p.why != nil { // the job's own server is more relevant than an agent
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
	return p.act(Action{Do: Visit, Target: p.at})
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
		return p.act(Action{Do: Rerun, Target: p.at, Err: p.retry.gaveUp(now, p.job, p.at, err)})
	}
	return p.act(Action{Do: Fail, Err: p.retry.gaveUp(now, p.job, p.at, err)})
}

func (p *Pursuit) act(a Action) Action {
	p.last = a
	return a
}

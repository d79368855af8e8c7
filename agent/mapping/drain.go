package mapping

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// Outcome is the result of an attempt to move a job.
type Outcome uint8

// The outcomes.
const (
	Ordered   Outcome = iota // the move has begun
	Overtaken                // the job has changed: another agent or its start was faster
	NoSite                   // no other site takes it, or the order failed
	Immovable                // its server never moves this job
)

// DrainLimits bound the moves of a drain.
type DrainLimits struct {
	AtOnce  int            // moves under way from one site
	Retry   batch.Duration // pause after a failure; doubles with each failure
	Longest batch.Duration // longest pause
}

// seenWithin is how soon a site should report a move that has begun. After that the job
// counts as waiting again.
const seenWithin = 30 * batch.Second

// Drain decides which jobs leave draining sites and sites that have withdrawn their service:
// waiting jobs in order of submission, AtOnce at a time. Moves that other agents order count too, so
// any number of agents can drain one site. Make one with NewDrain.
type Drain struct {
	limits DrainLimits
	sites  map[string]*drainedSite
}

type drainedSite struct {
	tries    map[string]*try     // by job
	services map[string]*service // by name
}

// try is an attempt to move a job, or the pause after it.
type try struct {
	epoch   uint32 // at which the job was seen waiting
	service string
	stage   stage
	until   batch.Time     // end of paused and ordered
	pause   batch.Duration // the last one
}

type stage uint8

const (
	paused  stage = iota // wait until
	asking               // the driver is moving it
	ordered              // ordered, but not yet reported by the site; expires at until
)

// service counts consecutive failures: if one job of a service finds no site, the next
// will probably not either, and asking for each of many would flood the sites.
type service struct {
	failures int
	until    batch.Time
}

// NewDrain returns a Drain without attempts.
func NewDrain(limits DrainLimits) *Drain {
	return &Drain{limits: limits, sites: make(map[string]*drainedSite)}
}

// Stop forgets the attempts at a site that no longer drains.
func (d *Drain) Stop(site string) { delete(d.sites, site) }

// Next appends the IDs of the jobs that leave a site now. The driver must call Done for each.
func (d *Drain) Next(now batch.Time, from *Site, jobs *Jobs, dst []string) []string {
	s := d.sites[from.Name]
	if s == nil {
		s = &drainedSite{tries: make(map[string]*try), services: make(map[string]*service)}
		d.sites[from.Name] = s
	}
	room := d.limits.AtOnce - jobs.movesUnderWay(from.Name) - s.settle(now, from.Name, jobs, &d.limits)
	if room <= 0 {
		return dst
	}
	jobs.After(from.Name, Cursor{}, func(job *Digest) bool {
		if job.State != Waiting || !from.Load.Leaves(job.Service) {
			return true
		}
		t := s.tries[job.ID]
		if t != nil && (t.stage != paused || now < t.until) {
			return true
		}
		if v := s.services[job.Service]; v != nil && v.failures >= d.limits.AtOnce {
			if now < v.until {
				return true
			}
			v.failures = 0
		}
		if t == nil {
			t = &try{}
			s.tries[job.ID] = t
		}
		t.epoch, t.service, t.stage = job.Epoch, job.Service, asking
		dst = append(dst, job.ID)
		room--
		return room > 0
	})
	return dst
}

// settle compares the attempts with what the site reports, and returns how many are under
// way and not yet reported. Attempts are independent, so their order does not matter.
func (s *drainedSite) settle(now batch.Time, site string, jobs *Jobs, limits *DrainLimits) (underWay int) {
	for id, t := range s.tries {
		job, there := jobs.Get(site, id)
		switch {
		case !there && t.stage != asking, there && job.State == Gone:
			delete(s.tries, id)
		case t.stage == asking:
			underWay++
		case t.stage == paused, job.State != Waiting:
		case job.Epoch > t.epoch: // begun and aborted
			t.wait(now, limits)
		case now < t.until:
			underWay++
		default:
			t.stage = paused
		}
	}
	return underWay
}

// wait starts the pause after a failure.
func (t *try) wait(now batch.Time, limits *DrainLimits) {
	t.stage = paused
	t.pause = min(max(2*t.pause, limits.Retry), limits.Longest)
	t.until = now.Add(t.pause)
}

// Done records the outcome of an attempt that Next returned.
func (d *Drain) Done(now batch.Time, site, id string, outcome Outcome) {
	s := d.sites[site]
	if s == nil || s.tries[id] == nil {
		return // the site no longer drains
	}
	t := s.tries[id]
	v := s.services[t.service]
	if v == nil {
		v = &service{}
		s.services[t.service] = v
	}
	switch outcome {
	case Ordered:
		t.stage, t.until = ordered, now.Add(seenWithin)
		v.failures = 0
	case Overtaken:
		t.stage, t.until = paused, now.Add(d.limits.Retry)
	case NoSite:
		t.wait(now, &d.limits)
		v.failures++
		v.until = now.Add(d.limits.Retry)
	case Immovable:
		t.stage, t.pause, t.until = paused, d.limits.Longest, now.Add(d.limits.Longest)
	}
}

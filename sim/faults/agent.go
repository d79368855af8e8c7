package faults

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// agent sends random moves, rounds and drains. It works with a recent copy of the disks of the
// servers it can reach.
type agent struct {
	w      *world
	node   int
	rounds int
	claims []belief // by job number
}

// belief is what an agent knows about a job: the server with the highest claimed epoch.
type belief struct {
	at    *server
	epoch uint32
	state string
}

// look copies the state of all reachable servers.
func (a *agent) look() {
	w := a.w
	for len(a.claims) < len(w.truths) {
		a.claims = append(a.claims, belief{})
	}
	for _, s := range w.sites {
		if !s.up || w.cut[s.node][a.node] > w.now || w.fault(w.sc.loss) {
			continue
		}
		for _, f := range w.truths {
			r := s.disk.record(f)
			if r == nil || !owns(r) {
				continue
			}
			if b := &a.claims[f.n]; b.at == nil || r.Epoch >= b.epoch {
				*b = belief{s, r.Epoch, r.State}
			}
		}
	}
}

// find returns the server that has a job.
func (a *agent) find(f *jobTruth) (*server, uint32, submission.FailureKind) {
	a.look()
	if b := a.claims[f.n]; b.at != nil {
		return b.at, b.epoch, 0
	}
	if a.w.calm {
		return nil, 0, submission.Absent
	}
	return nil, 0, submission.Busy
}

// rank returns the sites for a request, best first.
func (a *agent) rank() []submission.Target {
	w := a.w
	var list []submission.Target
	order := w.rng.Perm(len(w.sites))
	if w.chance(w.sc.crowd) {
		slices.Sort(order)
	}
	for _, i := range order {
		if !w.sites[i].gone && (w.sites[i].up || w.chance(500)) {
			list = append(list, submission.Target{Site: w.sites[i].name})
		}
	}
	return list
}

// work sends one random command.
func (a *agent) work() {
	w := a.w
	w.every(w.sc.orderEvery, func() {
		switch d := w.rng.IntN(100); {
		case d < 75:
			a.move()
		case d < 98:
			a.round()
		default:
			a.drain()
		}
	})
}

func (a *agent) some() *server { return a.w.sites[a.w.rng.IntN(len(a.w.sites))] }

// move moves a job to a random site, possibly its own.
func (a *agent) move() {
	w := a.w
	a.look()
	if len(a.claims) == 0 {
		return
	}
	f := w.truths[w.rng.IntN(len(a.claims))]
	for range 3 { // prefer a waiting job
		if a.claims[f.n].state != "waiting" {
			f = w.truths[w.rng.IntN(len(a.claims))]
		}
	}
	b := a.claims[f.n]
	if b.at == nil || final(b.state) {
		return
	}
	o := site.MoveRequest{
		Job: f.id, To: a.some().name, Seen: b.epoch, MinGain: site.AnyGain, Reason: "order",
		Agent: fmt.Sprint(a.node),
	}
	if w.chance(100) {
		o.MinGain = w.between(-10*batch.Second, 10*batch.Second)
	}
	w.ask(a.node, b.at, f, func(now batch.Time) answer {
		if _, err := b.at.core.Move(now, o, b.at.system); err == nil {
			w.counts[Ordered]++
			w.logf(b.at, f, "is asked to move it to %s", o.To)
		}
		return answer{}
	}, func(answer) {})
}

// round holds the jobs of one or more sites. It places them later, or never.
func (a *agent) round() {
	w := a.w
	a.rounds++
	name := fmt.Sprintf("%d-%d", a.node, a.rounds)
	lease := w.between(site.ShortestLease, 10*batch.Second)
	for _, s := range w.sites {
		if w.chance(500) {
			a.hold(s, name, lease)
		}
	}
}

func (a *agent) hold(s *server, name string, lease batch.Duration) {
	w := a.w
	var ids []batch.JobID
	if w.chance(300) {
		for _, f := range w.truths {
			if w.chance(500) {
				ids = append(ids, f.id)
			}
		}
	}
	w.ask(a.node, s, nil, func(now batch.Time) answer {
		jobs, err := s.core.Hold(now, name, lease, ids)
		if err != nil {
			panic(violation(err.Error()))
		}
		if len(jobs) > 0 {
			w.counts[Rounds]++
		}
		return answer{jobs: jobs}
	}, func(got answer) {
		if len(got.jobs) == 0 || w.chance(150) {
			return
		}
		w.after(w.between(batch.Millisecond, lease+lease/2), func() { a.place(s, name, got.jobs) })
	})
}

func (a *agent) place(s *server, name string, jobs []site.Job) {
	w := a.w
	var list []site.Placement
	for _, i := range w.rng.Perm(len(jobs)) {
		j := &jobs[i]
		p := site.Placement{Job: j.ID, MinGain: site.AnyGain}
		switch d := w.rng.IntN(100); {
		case d < 50:
			if to := a.some(); to != s {
				p.To = to.name
			}
		case d < 65:
			p.Shape = batch.Shape{Width: 1, Walltime: j.Shape.Walltime + batch.Second}
		case d < 75:
			continue
		}
		list = append(list, p)
	}
	w.ask(a.node, s, nil, func(now batch.Time) answer {
		out, err := s.core.Place(now, name, fmt.Sprint(a.node), list)
		if err != nil {
			panic(violation(err.Error()))
		}
		for i := range out {
			if out[i].State == site.Moving {
				w.counts[Ordered]++
			}
		}
		return answer{}
	}, func(answer) {})
}

// drain stops a site from accepting jobs for a while.
func (a *agent) drain() {
	w, s := a.w, a.some()
	set := func(on bool) {
		w.send(a.node, s.node, func() {
			s.call(nil, func(batch.Time) func(bool) {
				if !on || !w.calm {
					s.core.SetDraining(on)
				}
				return nil
			})
		})
	}
	w.counts[Drained]++
	set(true)
	w.after(w.between(batch.Second, 10*batch.Second), func() { set(false) })
}

// operate settles the moves that a lost site has left open. It reads the lost disk, which an
// operator of a live grid cannot do, so its answers are always right. The test is whether right
// answers settle everything.
func (w *world) operate() {
	if w.sc.lost < 0 || !w.sites[w.sc.lost].gone {
		return
	}
	lost := w.sites[w.sc.lost]
	for range 20 {
		w.after(w.between(0, 10*batch.Minute), func() {
			for _, s := range w.sites {
				if s.gone || !s.up {
					continue
				}
				for _, f := range w.truths {
					w.settle(s, lost, f)
				}
			}
		})
	}
}

// settle settles a job's move from or to a lost site.
func (w *world) settle(s, lost *server, f *jobTruth) {
	r, there := s.disk.record(f), lost.disk.record(f)
	if r == nil || r.Transit == nil {
		return
	}
	how := site.Settlement(0)
	switch {
	case r.State == "incoming" && r.Transit.Peer == lost.name:
		how = site.SettleAborted
		if there != nil && there.Transit != nil {
			for _, v := range there.Transit.Assigned {
				if v.Epoch == r.Epoch && v.Committed {
					how = site.SettleCommitted
				}
			}
		}
	case r.State == "gone" && r.Transit.GoneTo == lost.name && !r.Transit.Acked && r.Epoch == r.Transit.Gone:
		if there == nil || there.State != "incoming" || there.Epoch != r.Epoch {
			return // the job was there and is lost
		}
		how = site.SettleTakeBack
	default:
		return
	}
	s.call(f, func(now batch.Time) func(bool) {
		if _, err := s.core.Settle(now, f.id, r.Epoch, how, "its other site is lost"); err == nil {
			w.counts[Settled]++
			w.logf(s, f, "an operator settles epoch %d: %d", r.Epoch, how)
		}
		return nil
	})
}

package faults

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// pursuer is a client that is after one of its jobs: to see its end, or to have
// it cancelled.
type pursuer struct {
	c      *client
	f      *fact
	p      *submission.Pursuit
	cancel bool
	done   bool  // it was answered
	err    error // or given up
}

// pursue begins a pursuit.
func (c *client) pursue(f *fact, cancel bool) *pursuer {
	w := c.w
	f.unwanted = f.unwanted || cancel
	var at submission.Target
	if f.told != nil {
		at = submission.Target{Site: f.told.name}
	}
	cfg := submission.Config{Agents: len(w.agents), Patience: w.between(5*batch.Second, batch.Minute)}
	if w.calm {
		cfg.Patience = batch.Hour
	}
	p := &pursuer{c: c, f: f, p: submission.NewPursuit(cfg, string(f.id), at, 0), cancel: cancel}
	p.act(p.p.Start(w.now))
	return p
}

func (p *pursuer) act(a submission.Action) {
	w := p.c.w
	switch a.Do {
	case submission.Find:
		p.c.agent(a.Agent, func(ag *agent) func() {
			at, epoch, k := ag.find(p.f)
			return func() {
				if k != 0 {
					p.act(p.p.Failed(w.now, failed(k)))
					return
				}
				p.act(p.p.Found(w.now, submission.Target{Site: at.name}, epoch))
			}
		}, func(k submission.FailureKind) { p.act(p.p.Failed(w.now, failed(k))) })
	case submission.Visit:
		p.visit(w.siteOf(a.Target.Site))
	case submission.Pause:
		w.queue.add(max(a.Until, w.now), func() { p.act(p.p.Awake(w.now)) })
	case submission.Done:
		p.done = true
	default:
		p.err = a.Err
	}
}

// visit asks a server how the job is, or to cancel it.
func (p *pursuer) visit(s *server) {
	w, f := p.c.w, p.f
	w.ask(p.c.node, s, f, func(now batch.Time) answer {
		j, err := s.core.Job(f.id)
		if err == nil && p.cancel {
			j, err = s.core.Cancel(now, f.id)
		}
		if err != nil {
			return answer{failure: submission.Absent}
		}
		return answer{job: j}
	}, func(got answer) {
		j := &got.job
		switch {
		case got.failure != 0:
			p.act(p.p.Failed(w.now, failed(got.failure)))
		case j.State == site.Gone:
			p.act(p.p.Moved(w.now, j.Epoch))
		case j.State.Final():
			w.hear(f, s, j.State)
			if p.cancel {
				w.counts[Cancels]++
			}
			p.act(p.p.Finished(w.now))
		case p.cancel && j.State == site.Cancelling:
			w.counts[Cancels]++
			p.act(p.p.Finished(w.now))
		case p.cancel, j.State == site.Incoming:
			// Recorded: only the authority answers.
			p.act(p.p.Failed(w.now, failed(submission.Busy)))
		default:
			p.p.Heard(j.Epoch)
			w.after(w.between(batch.Second, 5*batch.Second), func() { p.visit(s) })
		}
	})
}

// hear takes note of the end that somebody was told.
func (w *world) hear(f *fact, s *server, state site.State) {
	w.say(s, f, "somebody hears that it is %v", state)
	if f.heard != 0 && f.heard != state {
		f.wrong("somebody was told that it is %v, and now that it is %v", f.heard, state)
	}
	f.heard = state
	if f.now != nil {
		f.wrong("somebody is told that it is %v while it runs", state)
	}
}

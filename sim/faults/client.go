package faults

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// client submits one request, follows the job for a while, and can cancel it at any time.
type client struct {
	w      *world
	node   int
	f      *jobTruth
	sub    *submission.Submission
	gone   bool
	reruns int
	only   string // the only accepted site; empty for any
}

// answer is a server's answer to a client or an agent.
type answer struct {
	failure   submission.FailureKind // 0 for none
	withdrawn bool
	job       site.Job
	jobs      []site.Job
}

// patience is the time-out of a call.
const callTimeout = 3 * batch.Second

// ask sends a call to a server and the answer back. It calls answered once, with the answer or
// with the failure that the caller sees.
func (w *world) ask(from int, s *server, f *jobTruth, do func(now batch.Time) answer, answered func(answer)) {
	open := true
	finish := func(a answer) {
		if open {
			open = false
			answered(a)
		}
	}
	if !s.up && w.chance(500) {
		w.after(batch.Millisecond, func() { finish(answer{failure: submission.Unsent}) })
		return
	}
	w.after(callTimeout, func() { finish(answer{failure: submission.Silent}) })
	w.send(from, s.node, func() {
		s.call(f, func(now batch.Time) func(bool) {
			a := do(now)
			return func(ok bool) {
				if !ok {
					a = answer{failure: submission.Busy}
				}
				w.send(s.node, from, func() { finish(a) })
			}
		})
	})
}

// begin creates the request.
func (c *client) begin() {
	w := c.w
	r := &site.Request{
		Service: "work", Owner: "ada", Idempotent: w.chance(w.sc.idempotent),
		Retries: int32(len(w.truths) % 3),
	}
	if w.chance(w.sc.local) {
		r.Origin = batch.Local
	}
	wall := w.between(w.sc.work/4, w.sc.work).CeilSeconds()
	least := int32(1)
	if w.chance(w.sc.wide) {
		least = 2
	}
	for width := least; width <= 4; width *= 2 {
		if width == least || w.chance(300) {
			r.Menu = append(r.Menu, batch.Shape{Width: width, Walltime: wall/batch.Duration(width) + batch.Second})
		}
	}
	c.submit(w.newTruth(r), "")
	if w.chance(w.sc.giveUp) {
		w.after(w.between(0, 10*batch.Second), func() {
			if c.sub != nil {
				w.counts[GaveUp]++
				c.gone = true
			}
		})
	}
}

// block creates a request of a local user for all processors of a site.
func (c *client) block() {
	s := c.w.siteOf(c.only)
	c.submit(c.w.newTruth(&site.Request{
		Service: "block", Origin: batch.Local, Menu: []batch.Shape{{Width: s.procs, Walltime: c.w.sc.chaos}},
	}), "")
}

func (c *client) submit(f *jobTruth, avoid string) {
	w := c.w
	c.f, f.first = f, c
	cfg := submission.Config{Agents: len(w.agents), Patience: w.between(5*batch.Second, 40*batch.Second)}
	if f.restartable && w.chance(500) {
		cfg.Rerun = w.between(5*batch.Second, 20*batch.Second)
	}
	c.sub = submission.NewSubmission(cfg, string(f.id), avoid)
	w.logf(nil, f, "a request, restartable: %t", f.restartable)
	c.act(f, c.sub.Start(w.now))
	for more := w.sc.cancel; more > 0; more -= 1000 {
		if w.chance(more) {
			w.after(w.between(0, 20*batch.Second), func() { c.pursue(f, true) })
		}
	}
}

// act carries out the next step of the submission.
func (c *client) act(f *jobTruth, a submission.Action) {
	if c.gone || c.f != f {
		return
	}
	w := c.w
	if w.trace != nil && a.Do != submission.Pause {
		w.logf(nil, f, "client: %v %s", a.Do, a.Target.Site)
	}
	switch a.Do {
	case submission.Map:
		c.agent(a.Agent, func(ag *agent) func() {
			ranking := ag.rank()
			if c.only != "" {
				ranking = []submission.Target{{Site: c.only}}
			}
			return func() { c.act(f, c.sub.Mapped(w.now, ranking)) }
		}, func(k submission.FailureKind) { c.act(f, c.sub.Failed(w.now, failed(k))) })
	case submission.Submit:
		s := w.siteOf(a.Target.Site)
		w.ask(c.node, s, f, func(now batch.Time) answer { return s.submit(now, f) },
			func(got answer) { c.answered(f, s, got) })
	case submission.Withdraw:
		s := w.siteOf(a.Target.Site)
		if w.plant == NoWithdraw {
			c.act(f, c.sub.Withdrawn(w.now))
			return
		}
		w.ask(c.node, s, f, func(now batch.Time) answer { return s.withdraw(now, f) },
			func(got answer) { c.answered(f, s, got) })
	case submission.Pause:
		w.queue.add(max(a.Until, w.now), func() { c.act(f, c.sub.Awake(w.now)) })
	case submission.Done:
		c.sub = nil
		c.pursue(f, false)
	case submission.Rerun:
		if c.reruns++; c.reruns <= 2 && !w.calm {
			w.counts[Reruns]++
			c.submit(w.newTruth(f.request), a.Target.Site)
		}
	default:
		c.sub = nil
	}
}

func (c *client) answered(f *jobTruth, s *server, got answer) {
	w := c.w
	switch {
	case got.failure != 0:
	case got.withdrawn:
		w.counts[Withdrawn]++
		if f.withdrawn[s.node] = true; f.accepted == s {
			f.wrong("%s has accepted it, and answers that it never will", s.name)
		}
	case f.accepted == nil:
		f.wrong("%s answers that it is accepted: %s", s.name, w.locations(f))
	default:
		f.acknowledged = s
	}
	if c.gone || c.f != f || c.sub == nil {
		return
	}
	switch {
	case got.failure != 0:
		c.act(f, c.sub.Failed(w.now, failed(got.failure)))
	case got.withdrawn:
		c.act(f, c.sub.Withdrawn(w.now))
	default:
		c.act(f, c.sub.Accepted(w.now))
	}
}

// submit calls Submit.
func (s *server) submit(now batch.Time, f *jobTruth) answer {
	if site.CheckAge(now, now, f.id) != nil {
		return answer{failure: submission.Refused}
	}
	j, err := s.core.Submit(now, site.Submission{ID: f.id, Request: f.request}, s.system)
	switch {
	case err == nil:
		if j.Kept {
			s.disk.page(f).files = true
		}
		return answer{job: j}
	case problem.ReasonOf(err) == problem.Withdrawn:
		return answer{withdrawn: true}
	case problem.ReasonOf(err) == problem.Draining:
		return answer{failure: submission.Busy}
	}
	return answer{failure: submission.Refused}
}

// withdraw calls Withdraw.
func (s *server) withdraw(now batch.Time, f *jobTruth) answer {
	if site.CheckAge(now, now, f.id) != nil {
		return answer{failure: submission.Refused}
	}
	withdrawn, j := s.core.Withdraw(now, f.id)
	return answer{withdrawn: withdrawn, job: j}
}

// agent asks an agent. do reads the agent's state; its result is called when the answer
// arrives.
func (c *client) agent(i int, do func(*agent) func(), lost func(submission.FailureKind)) {
	w := c.w
	a := w.agents[i]
	open := true
	w.after(callTimeout, func() {
		if open {
			open = false
			lost(submission.Silent)
		}
	})
	w.send(c.node, a.node, func() {
		if !open {
			return
		}
		then := do(a)
		w.send(a.node, c.node, func() {
			if open {
				open = false
				then()
			}
		})
	})
}

var errSimulated = errors.New("simulated")

func failed(k submission.FailureKind) submission.Failure {
	return submission.Failure{Kind: k, Err: errSimulated}
}

// pursuer follows one job of a client to its end, or until it is cancelled.
type pursuer struct {
	c      *client
	f      *jobTruth
	p      *submission.Pursuit
	cancel bool
	done   bool  // it has its answer
	err    error // why it gave up; nil if it did not
}

// pursue starts to follow a job.
func (c *client) pursue(f *jobTruth, cancel bool) *pursuer {
	w := c.w
	f.unwanted = f.unwanted || cancel
	var at submission.Target
	if f.acknowledged != nil {
		at = submission.Target{Site: f.acknowledged.name}
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

// visit asks a server about the job, or to cancel it.
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
			p.p.Progress(j.Epoch)
			w.after(w.between(batch.Second, 5*batch.Second), func() { p.visit(s) })
		}
	})
}

// hear records a final state that a client got as an answer.
func (w *world) hear(f *jobTruth, s *server, state site.State) {
	w.logf(s, f, "a client is answered that it is %v", state)
	if f.answered != 0 && f.answered != state {
		f.wrong("a client was answered that it is %v, and now that it is %v", f.answered, state)
	}
	f.answered = state
	if f.now != nil {
		f.wrong("a client is answered that it is %v while it runs", state)
	}
}

package faults

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// resting reports whether every job has settled.
func (w *world) resting() bool {
	for _, f := range w.truths {
		if f.now != nil || w.unsettled(f) != "" {
			return false
		}
	}
	return true
}

// unsettled describes what a job still waits for, or returns "".
func (w *world) unsettled(f *jobTruth) string {
	for _, s := range w.sites {
		r := s.disk.record(f)
		if s.gone || r == nil {
			continue
		}
		switch {
		case r.State == "absent" || final(r.State):
		case r.State == "gone" && (r.Transit.Acked || w.siteOf(r.Transit.GoneTo).gone && w.beyond(f)):
		default:
			return fmt.Sprintf("it is %s at %s", r.State, s.name)
		}
	}
	return ""
}

// beyond reports whether a job was lost with its site, or has left it. Its arrival is then
// never confirmed, and an operator has no right answer.
func (w *world) beyond(f *jobTruth) bool {
	return f.lost || slices.ContainsFunc(w.sites, func(s *server) bool {
		r := s.disk.record(f)
		return !s.gone && r != nil && final(r.State)
	})
}

// settled checks the final state of all jobs.
func (w *world) settled() {
	for _, s := range w.sites {
		if s.gone {
			continue
		}
		if !s.up || s.loop.Busy() || len(s.calls) > 0 {
			panic(violation(fmt.Sprintf("site %s is not at rest", s.name)))
		}
		s.recount()
		s.leaks()
		s.system.empty()
	}
	for _, f := range w.truths {
		if what := w.unsettled(f); what != "" {
			f.wrong("nothing more will happen, and %s: %s", what, w.locations(f))
		}
		if f.now != nil {
			f.wrong("it still runs")
		}
		w.check(f)
		w.outcome(f)
	}
}

// outcome checks that a job has one outcome, and the right one.
func (w *world) outcome(f *jobTruth) {
	var at *site.Record
	for _, s := range w.sites {
		if r := s.disk.record(f); !s.gone && r != nil && owns(r) {
			at = r
		}
	}
	switch {
	case f.accepted == nil && f.runs > 0:
		f.wrong("no site has accepted it, and it ran")
	case f.accepted == nil || f.lost:
		return
	case at == nil:
		f.wrong("it has no outcome: %s", w.locations(f))
	}
	unseen := f.unseen > 0
	switch {
	case f.answered != 0 && f.answered.String() != at.State:
		f.wrong("a client was answered that it is %v, and it is %s", f.answered, at.State)
	case at.State == "done" && f.whole == f.failed:
		f.wrong("it is done, but ran to its end %d times, and failed each time", f.whole)
	case at.State == "done" && f.whole-f.failed > 1 && !f.restartable:
		f.wrong("it ran to its end %d times", f.whole)
	case at.State == "done" && int(at.Retried) != f.retries() && !unseen:
		f.wrong("it was tried again %d times, and had failed %d times with %d retries", at.Retried, f.tried,
			f.request.Retries)
	case at.State == "cancelled" && (f.whole > f.failed || f.failed > int(f.request.Retries)) && !unseen:
		f.wrong("it is cancelled, and has run to its end")
	case at.State == "killed" && f.killed == 0:
		f.wrong("it is recorded as killed at its walltime, and was not killed")
	case at.State == "failed" && at.Run != nil && at.Run.Outcome == outcome(batch.EndFailed) &&
		int32(at.Retried) < f.request.Retries && !f.unwanted:
		f.wrong("it has failed by itself, and was tried again %d times of %d", at.Retried, f.request.Retries)
	case at.State == "failed" && f.runs > 0 && f.failed == 0 && !unseen:
		f.wrong("it has failed, and nothing has gone wrong: %d processes, %d whole", f.runs, f.whole)
	}
	f.where = *at
}

// leaks checks that a site has the files of the jobs it keeps, and no others.
func (s *server) leaks() {
	for _, f := range s.w.truths {
		p := s.disk.page(f)
		if p.until != 0 && s.core.Knows(f.id) {
			f.wrong("what is left of it is still in the memory of %s", s.name)
		}
		if kept := p.there && p.record.Kept; p.files != kept || kept && p.dossier == nil {
			f.wrong("at %s its record is kept: %t, its files: %t, its dossier: %t", s.name, kept, p.files,
				p.dossier != nil)
		}
	}
}

// empty checks that the batch system has no attempts: every held or reserved job was placed,
// started or removed.
func (y *system) empty() {
	for _, a := range y.byHandle[1:] {
		if f := y.s.w.byID[a.key.Job]; a.phase != batch.PhaseEnded {
			f.wrong("attempt %d/%d is left in the batch system of %s: %s", a.key.Epoch, a.key.Attempt, y.s.name,
				y.s.w.locations(f))
		}
	}
}

// tally counts the jobs that a commit ends.
func (s *server) tally(writes []site.Write) {
	for i := range writes {
		r := &writes[i].Record
		if old := s.disk.record(s.w.byID[r.ID]); final(r.State) && (old == nil || !final(old.State)) {
			s.ended++
		}
	}
}

// recount compares the figures of a site with its disk. No commit may be in progress.
func (s *server) recount() {
	var want site.Load
	want.Processors, want.Ended = s.procs, s.ended
	for n := range s.disk.pages {
		p := &s.disk.pages[n]
		if !p.there || p.until != 0 {
			continue
		}
		r := &p.record
		switch {
		case r.Busy:
			want.Running++
			want.Busy += r.Shape.Width
		case r.State == "incoming":
			want.Incoming++
		case owns(r) && !final(r.State):
			want.Waiting++
			want.Backlog = want.Backlog.Add(batch.AreaOf(r.Shape.Width, r.Shape.Walltime))
		}
	}
	if got := s.core.Load(); got != want {
		panic(violation(fmt.Sprintf("site %s counts %+v, and has %+v", s.name, got, want)))
	}
}

// followAll makes a client look up every accepted job.
func (w *world) followAll() {
	for _, f := range w.truths {
		if f.accepted == nil || f.lost {
			continue
		}
		p := f.first.pursue(f, false)
		w.after(2*batch.Hour, func() {
			if !p.done {
				f.wrong("its client does not find it: %v: %s", p.err, w.locations(f))
			}
		})
	}
}

// account counts the jobs by outcome.
func (w *world) account() {
	for _, f := range w.truths {
		switch f.where.State {
		case "done":
			w.counts[Done]++
		case "failed":
			w.counts[Failed]++
		case "killed":
			w.counts[Killed]++
		case "cancelled":
			w.counts[Cancelled]++
		}
		for _, s := range w.sites {
			if r := s.disk.record(f); r != nil && r.Transit != nil {
				for _, v := range r.Transit.Assigned {
					w.counts[Aborted] += int64(v.Epoch - v.First + 1)
					if v.Committed {
						w.counts[Aborted]--
					}
				}
			}
		}
	}
}

package faults

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// wrong ends the run with a violation about a job.
func (f *jobTruth) wrong(format string, a ...any) {
	panic(violation(fmt.Sprintf("job j%d: ", f.n) + fmt.Sprintf(format, a...)))
}

// check compares the durable state of a job with CHECK in the model of the protocol: one site
// has authority or can run the job, or one site has handed it over, with all its data, and
// another one expects it.
func (w *world) check(f *jobTruth) {
	live, over := 0, 0
	for _, s := range w.sites {
		if s.gone {
			continue
		}
		r := s.disk.record(f)
		switch {
		case r != nil && owns(r) || s.host.mayRun(f):
			live++
		case r != nil && w.handsOver(s, f, r):
			over++
		}
	}
	if live > 1 {
		f.wrong("%d sites have authority over it, or may run it: %s", live, w.locations(f))
	}
	accepts := 0
	if f.accepted != nil {
		accepts = 1
	}
	if !f.lost && live+over != accepts {
		f.wrong("accepted %d times, %d sites have authority and %d hand it over: %s", accepts, live, over,
			w.locations(f))
	}
}

// mayRun reports whether the job runs here, or a launch of it can no longer be stopped.
func (h *host) mayRun(f *jobTruth) bool {
	for _, c := range h.list {
		if c.f == f && c.live() {
			return true
		}
	}
	for key := range h.asked { // the order does not matter
		if key.Job == f.id && h.claims[key] == nil {
			return true
		}
	}
	return false
}

// handsOver reports whether a site has given up a job, still has all its data, and another site
// expects it under the same epoch.
func (w *world) handsOver(s *server, f *jobTruth, r *site.Record) bool {
	t := r.Transit
	if t == nil || t.Gone == 0 || r.State != "gone" || !r.Kept || s.disk.page(f).dossier == nil {
		return false
	}
	to := w.siteOf(t.GoneTo)
	p := to.disk.record(f)
	return p != nil && p.State == "incoming" && p.Epoch == t.Gone && p.Transit.Peer == s.name
}

// locations describes what each site has of a job.
func (w *world) locations(f *jobTruth) string {
	text := ""
	for _, s := range w.sites {
		what := "nothing"
		if r := s.disk.record(f); r != nil {
			what = fmt.Sprintf("%s epoch %d under %d", r.State, r.Epoch, r.Under)
		}
		if s.gone {
			what += ", lost"
		}
		if s.host.mayRun(f) {
			what += ", may run"
		}
		text += fmt.Sprintf(" %s: %s;", s.name, what)
	}
	return text[1:]
}

// wrote checks a record that has become durable.
func (w *world) wrote(s *server, f *jobTruth, had bool, old, r *site.Record) {
	if w.trace != nil {
		before := "nothing"
		if had {
			before = old.State
		}
		w.logf(s, f, "disk: %s -> %s, epoch %d under %d attempt %d", before, r.State, r.Epoch, r.Under, r.Attempt)
	}
	switch {
	case had && r.Epoch < old.Epoch:
		f.wrong("its epoch at %s goes back from %d to %d", s.name, old.Epoch, r.Epoch)
	case had && final(old.State) && old.State != r.State:
		f.wrong("it was %s at %s, and is %s", old.State, s.name, r.State)
	case r.Cancel && r.State != "yielding" && r.State != "incoming" && r.State != "cancelling":
		f.wrong("a cancel is recorded at %s, and it is %s", s.name, r.State)
	case f.request.Origin == batch.Local && (r.State == "held" || r.State == "moving"):
		f.wrong("a local user's job is %s", r.State)
	case had && old.Withdrawn && !r.Withdrawn:
		f.wrong("that it is withdrawn at %s is forgotten", s.name)
	}
	before := uint32(0)
	if had && old.Transit != nil {
		before = old.Transit.Gone
	}
	if t := r.Transit; t != nil && t.Gone > before {
		w.counts[Committed]++
	}
	if owns(r) {
		f.lost = false // it was in transit, or was taken back
	}
	if owns(r) && r.Under == 0 && (!had || old.State == "absent") {
		w.accept(s, f)
	}
	w.check(f)
}

// accept checks an accepted submission.
func (w *world) accept(s *server, f *jobTruth) {
	switch {
	case f.accepted != nil:
		f.wrong("it was accepted by %s, and now by %s", f.accepted.name, s.name)
	case f.withdrawn[s.node]:
		f.wrong("%s accepts it after it has answered that it never will", s.name)
	}
	f.accepted = s
	w.counts[Accepted]++
}

// started checks a process that starts.
func (w *world) started(h *host, c *claim) {
	f := c.f
	f.runs++
	w.counts[Started]++
	w.logf(h.s, f, "attempt %d/%d runs", c.key.Epoch, c.key.Attempt)
	r := h.s.disk.record(f)
	switch {
	case f.now != nil:
		f.wrong("it runs at %s while it runs at %s", h.s.name, f.now.s.name)
	case f.runs > 1+f.retries() && !f.restartable:
		f.wrong("it runs for the %dth time, at %s, and has failed %d times", f.runs, h.s.name, f.tried)
	case r == nil || !owns(r):
		f.wrong("it runs at %s, which has no authority over it: %s", h.s.name, w.locations(f))
	case final(r.State) || f.answered != 0:
		f.wrong("it runs at %s after its end: %s", h.s.name, w.locations(f))
	case r.Under != c.key.Epoch || r.Attempt != c.key.Attempt:
		f.wrong("attempt %d/%d runs at %s, and the record there is of attempt %d/%d", c.key.Epoch, c.key.Attempt,
			h.s.name,
			r.Under, r.Attempt)
	case !h.s.disk.page(f).files:
		f.wrong("it runs at %s without its files", h.s.name)
	}
	f.now = h
	h.fits()
	w.check(f)
}

// ended counts the end of a process.
func (w *world) ended(c *claim) {
	f := c.f
	f.now = nil
	if c.end == batch.EndKilled || c.end == batch.EndCancelled {
		f.killed++
	} else {
		f.whole++
	}
	if c.seen == batch.EndLost {
		f.unseen++
	}
	if c.end == batch.EndFailed {
		f.failed++
	}
	if c.seen == batch.EndFailed {
		if f.tried++; f.tried <= int(f.request.Retries) {
			w.counts[Failures]++
		}
	}
}

// recordLoss records a job of a site that is lost for good. A job in transit to or from the site
// is lost too, unless it arrives or an operator settles it.
func (w *world) recordLoss(s *server, f *jobTruth) {
	r := s.disk.record(f)
	if f.now == s.host {
		f.now, f.lost = nil, true
	}
	if s.host.mayRun(f) || r != nil && (owns(r) || r.State == "incoming" || r.State == "gone" && !r.Transit.Acked) {
		f.lost = true
	}
}

// jobTruth is what really happened to a job, unknown to all simulated processes.
type jobTruth struct {
	n           int
	id          batch.JobID
	request     *site.Request
	restartable bool
	fails       int // number of processes, from the first, that exit with a code other than 0

	unwanted bool // a client has asked to cancel it

	accepted *server // where a submission was durably accepted
	lost     bool    // the site with authority is lost for good
	runs     int     // processes that began
	now      *host   // where it runs; nil if it does not
	whole    int     // processes that ran to their end
	killed   int
	unseen   int // of both: nothing observed the end
	failed   int // of those that ran to their end: the exit code was not 0
	tried    int // of these: the end was observed, so a retry can follow

	withdrawn    []bool      // by site: a client got this answer
	acknowledged *server     // a client got the answer that the job is accepted here
	answered     site.State  // the final state that a client got as an answer; 0 for none
	first        *client     // the client that submitted it
	where        site.Record // that of the site with authority, at the end
}

// newTruth creates a job of a client.
func (w *world) newTruth(r *site.Request) *jobTruth {
	n := len(w.truths)
	ms := int64(epochOfClocks+w.now) / int64(batch.Millisecond)
	f := &jobTruth{
		n: n, id: batch.JobID(fmt.Sprintf("%08x-%04x-7%03x-8000-%012x", ms>>16, ms&0xffff, n, n)), request: r,
		restartable: r.Idempotent, withdrawn: make([]bool, len(w.sites)),
	}
	if w.chance(100) {
		f.fails = 1 + n%4
	}
	w.truths = append(w.truths, f)
	w.byID[f.id] = f
	w.counts[Submitted]++
	return f
}

// retries returns how often the job was, or should have been, retried.
func (f *jobTruth) retries() int { return min(f.tried, int(f.request.Retries)) }

func (w *world) siteOf(name string) *server {
	for _, s := range w.sites {
		if s.name == name {
			return s
		}
	}
	panic(violation(fmt.Sprintf("a message to %q", name)))
}

// Predicates of a record.

// owns reports whether a record gives its site authority over the job.
func owns(r *site.Record) bool {
	switch r.State {
	case "absent", "gone", "incoming":
		return false
	}
	return true
}

// final reports whether the job has ended at this site.
func final(state string) bool {
	switch state {
	case "done", "failed", "killed", "cancelled":
		return true
	}
	return false
}

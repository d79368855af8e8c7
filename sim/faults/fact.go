package faults

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// fact is the truth about a job, which nobody in the grid knows.
type fact struct {
	n           int
	id          batch.JobID
	request     *site.Request
	restartable bool
	fails       int // how many of its processes end with an exit code that is not 0, the first ones

	unwanted bool // somebody has asked for its cancel

	accepted *server // where a submission was accepted, durably
	lost     bool    // its authority was lost for good: nothing is known of it
	runs     int     // processes that began
	now      *host   // where it runs
	whole    int     // processes that ran to their end
	killed   int
	unseen   int // of both: nobody saw it
	failed   int // of those that ran to their end: with an exit code that is not 0
	tried    int // of these: somebody saw it, so that another try may follow

	withdrawn []bool      // by site: somebody was told so
	told      *server     // somebody was told that it is accepted there
	heard     site.State  // the final state that somebody was told
	first     *client     // who submitted it
	where     site.Record // the authority's, at the end
}

// newFact makes a job for a client.
func (w *world) newFact(r *site.Request) *fact {
	n := len(w.facts)
	ms := int64(epochOfClocks+w.now) / int64(batch.Millisecond)
	f := &fact{
		n: n, id: batch.JobID(fmt.Sprintf("%08x-%04x-7%03x-8000-%012x", ms>>16, ms&0xffff, n, n)), request: r,
		restartable: r.Idempotent, withdrawn: make([]bool, len(w.sites)),
	}
	if w.chance(100) {
		f.fails = 1 + n%4
	}
	w.facts = append(w.facts, f)
	w.byID[f.id] = f
	w.counts[Submitted]++
	return f
}

// retries is how often it was, or should have been, tried again.
func (f *fact) retries() int { return min(f.tried, int(f.request.Retries)) }

func (w *world) siteOf(name string) *server {
	for _, s := range w.sites {
		if s.name == name {
			return s
		}
	}
	panic(violation(fmt.Sprintf("a message to %q", name)))
}

func (w *world) page(s *server, id batch.JobID) *page { return s.disk.page(w.byID[id]) }

// rules of what a record says.

// owns says whether a record makes its site the job's authority.
func owns(r *site.Record) bool {
	switch r.State {
	case "absent", "gone", "incoming":
		return false
	}
	return true
}

// final says whether a job has ended, here.
func final(state string) bool {
	switch state {
	case "done", "failed", "killed", "cancelled":
		return true
	}
	return false
}

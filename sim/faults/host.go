package faults

import (
	"encoding/json"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// host is the machine of a site without the server: the claims on its disk, the supervisor and
// the processes. All of it outlives the server.
type host struct {
	w          *world
	s          *server
	claims     map[batch.Key]*claim
	list       []*claim          // the same, in the order of creation
	asked      map[batch.Key]int // launches in progress
	life       int               // generation of the supervisor
	up         bool              // the supervisor runs
	processors int32
	taken      int32 // processors of the running processes
}

// claim is the file of an attempt, and the process that it started.
type claim struct {
	key     batch.Key
	f       *jobTruth
	state   claimState
	shape   batch.Shape
	orphan  bool // its supervisor is gone: nothing will observe its end
	started batch.Time
	ended   batch.Time
	end     batch.End
	seen    batch.End // the same, or that the end was not observed
}

type claimState uint8

const (
	ofServer claimState = iota + 1 // the server's: nothing will ever run
	pending                        // a supervisor's, with the gate closed
	never                          // of a supervisor that died before it opened the gate
	running
	over
)

// ends names the ends in a trace.
var ends = map[batch.End]string{
	batch.EndDone: "done", batch.EndFailed: "failed", batch.EndKilled: "killed", batch.EndCancelled: "cancelled",
	batch.EndLost: "lost",
}

// live reports whether a process runs or can still run under the claim.
func (c *claim) live() bool { return c.state == pending || c.state == running }

func newHost(w *world, s *server) *host {
	return &host{w: w, s: s, claims: make(map[batch.Key]*claim), asked: make(map[batch.Key]int), processors: s.procs}
}

func (h *host) add(c *claim) *claim {
	h.claims[c.key] = c
	h.list = append(h.list, c)
	return c
}

// requestLaunch sends a launch to the supervisor. The launch arrives even if the server dies.
func (h *host) requestLaunch(key batch.Key, shape batch.Shape) {
	h.asked[key]++
	h.w.after(h.w.between(batch.Microsecond, h.w.sc.launch), func() {
		if h.asked[key]--; h.asked[key] == 0 {
			delete(h.asked, key)
		}
		if h.s.gone {
			return
		}
		h.launch(key, shape)
	})
}

// launch makes the claim. If the claim exists, launch reports its state again.
func (h *host) launch(key batch.Key, shape batch.Shape) {
	f := h.w.byID[key.Job]
	switch {
	case !h.up:
		h.w.logf(h.s, f, "launch of attempt %d/%d finds no supervisor", key.Epoch, key.Attempt)
		if s, life := h.s, h.s.life; s.up {
			h.w.after(batch.Second, func() {
				if s.up && s.life == life {
					h.requestLaunch(key, shape)
				}
			})
		}
		return
	case h.claims[key] != nil:
		h.notify(key)
		return
	case h.s.self && h.taken+h.booked()+shape.Width > h.processors: // such a batch system keeps its own books
		h.w.after(batch.Second, func() { h.requestLaunch(key, shape) })
		return
	}
	c := h.add(&claim{key: key, f: f, state: pending, shape: shape})
	h.w.logf(h.s, f, "the supervisor claims attempt %d/%d", key.Epoch, key.Attempt)
	h.w.check(f)
	gate := batch.Millisecond
	if h.w.fault(h.w.sc.gate) {
		gate = 2 * batch.Second
	}
	h.w.after(h.w.between(batch.Microsecond, gate), func() { h.open(c) })
}

// booked returns the processors of launches with closed gates.
func (h *host) booked() int32 {
	n := int32(0)
	for _, c := range h.list {
		if c.state == pending {
			n += c.shape.Width
		}
	}
	return n
}

// open opens the gate if the supervisor that made the claim still runs.
func (h *host) open(c *claim) {
	switch {
	case h.s.gone || c.state != pending:
		return
	case !h.up:
		return // the next supervisor finds it
	case h.w.fault(h.w.sc.never):
		h.markNeverRan(c)
		return
	}
	c.state, c.started = running, h.w.now
	h.taken += c.shape.Width
	h.w.started(h, c)
	f := c.f
	work := h.w.between(c.shape.Walltime/8, c.shape.Walltime)
	if h.w.chance(80) {
		work = 2 * c.shape.Walltime
	}
	h.w.after(work, func() {
		end := batch.EndDone
		if f.failed < f.fails {
			end = batch.EndFailed
		}
		h.end(c, end)
	})
	h.notify(c.key)
}

// markNeverRan records that the attempt never ran and never will.
func (h *host) markNeverRan(c *claim) {
	h.w.counts[NeverRan]++
	h.w.logf(h.s, c.f, "attempt %d/%d never ran", c.key.Epoch, c.key.Attempt)
	c.state = never
	h.notify(c.key)
}

// end ends a process.
func (h *host) end(c *claim, how batch.End) {
	if h.s.gone || c.state != running {
		return
	}
	h.taken -= c.shape.Width
	c.state, c.ended, c.end, c.seen = over, h.w.now, how, how
	if c.orphan || !h.up {
		h.w.counts[Unseen]++
		c.seen = batch.EndLost
	}
	h.w.ended(c)
	h.w.logf(h.s, c.f, "attempt %d/%d is %s, and is seen as %s", c.key.Epoch, c.key.Attempt, ends[c.end], ends[c.seen])
	h.notify(c.key)
}

// kill ends a process on a command.
func (h *host) kill(key batch.Key, how batch.End) {
	if c := h.claims[key]; c != nil && h.up {
		h.end(c, how)
	}
}

// take makes the server's own claim. It reports whether the attempt has not run and never will.
func (h *host) take(key batch.Key) bool {
	c := h.claims[key]
	if c == nil {
		f := h.w.byID[key.Job]
		h.add(&claim{key: key, f: f, state: ofServer})
		h.w.logf(h.s, f, "the server claims attempt %d/%d", key.Epoch, key.Attempt)
		return true
	}
	return c.state == ofServer || c.state == never
}

// notify reports the state of an attempt to the server, if server and supervisor are up.
func (h *host) notify(key batch.Key) {
	h.w.after(h.w.between(batch.Microsecond, h.w.sc.launch), func() {
		if h.up && h.s.up {
			h.s.observe(key)
		}
	})
}

// killSupervisor kills the supervisor. Its processes keep running.
func (h *host) killSupervisor() {
	h.w.counts[Supervisor]++
	h.w.logf(h.s, nil, "the supervisor is killed")
	h.up = false
	for _, c := range h.list {
		if c.state == running {
			c.orphan = true
		}
	}
}

// startSupervisor starts a supervisor. Claims of earlier supervisors without a process never ran; it can
// only watch the processes that they started.
func (h *host) startSupervisor() {
	h.up = true
	h.life++
	h.w.logf(h.s, nil, "supervisor %d", h.life)
	for _, c := range h.list {
		if c.state == pending {
			h.markNeverRan(c)
		}
	}
}

// lose removes the machine for good.
func (h *host) lose() {
	h.up = false
	for _, c := range h.list {
		if c.state == running {
			c.state = over
		}
	}
}

// fits panics if the running jobs need more processors than there are.
func (h *host) fits() {
	if h.taken > h.processors {
		panic(violation(fmt.Sprintf("site %s runs %d processors' worth on %d", h.s.name, h.taken, h.processors)))
	}
}

// disk is the disk of a site. It outlives the server. A write of several records is on it
// entirely or not at all.
type disk struct {
	pages []page // by job number
}

// page is what the disk has of one job.
type page struct {
	there   bool
	record  site.Record
	text    []byte // the encoded record, in runs that encode records
	dossier *site.Dossier
	until   batch.Time // when a tombstone expires; 0 for a record that is read at a restart
	files   bool       // uploaded, or fetched from another site
}

// record returns what is on the disk of a job; nil if there is nothing.
func (d *disk) record(f *jobTruth) *site.Record {
	if f.n >= len(d.pages) || !d.pages[f.n].there {
		return nil
	}
	return &d.pages[f.n].record
}

// page returns the page of a job.
func (d *disk) page(f *jobTruth) *page {
	for f.n >= len(d.pages) {
		d.pages = append(d.pages, page{})
	}
	return &d.pages[f.n]
}

// expire drops an expired tombstone.
func (d *disk) expire(f *jobTruth, now batch.Time) {
	if p := d.page(f); p.until != 0 && p.until <= now {
		*p = page{}
	}
}

// apply makes a write durable.
func (p *page) apply(w *site.Write, written bool) {
	p.there, p.record, p.until = true, w.Record, w.Until
	if w.Dossier != nil {
		p.dossier = w.Dossier
	}
	if w.Forget {
		p.dossier = nil
	}
	if written {
		var err error
		if p.text, err = json.Marshal(&w.Record); err != nil {
			panic(violation(fmt.Sprintf("a record that cannot be written: %v", err)))
		}
	}
}

// read returns the record as a restart reads it.
func (p *page) read() site.Record {
	if p.text == nil {
		return p.record
	}
	var r site.Record
	if err := json.Unmarshal(p.text, &r); err != nil {
		panic(violation(fmt.Sprintf("a record that cannot be read: %v", err)))
	}
	return r
}

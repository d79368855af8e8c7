package site

import (
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// network is a model of three sites, their disks and batch systems, and a set of messages that
// can be lost, duplicated, delayed and reordered. It has one job, "a". A site can be killed
// between any two steps, before or after a commit, and restarts immediately.
type network struct {
	*rapid.T
	now    batch.Time
	hosts  [3]host
	bag    []Message
	starts int
	tries  int32 // maximum number of retries after failures
	wanted bool  // a client asked to cancel the job
	// Selfish batch systems survive their server and start queued attempts without asking it. The
	// others ask the server, and lose their queue with it.
	selfish bool
}

// host is a site and its environment. A crash of the site loses core and claims, and the queue
// unless the batch system is selfish.
type host struct {
	core   *Site
	disk   *Record
	queue  map[batch.Key]bool // attempts that can be launched; false: held
	claims []batch.Key        // pending claims for the server

	asked   map[batch.Key]bool // launches under way
	servers map[batch.Key]bool // claimed by the server
	never   map[batch.Key]bool // claimed by a launch that died before its gate opened
	ran     map[batch.Key]batch.Outcome
}

func newNetwork(t *rapid.T) *network {
	n := &network{T: t, selfish: rapid.Bool().Draw(t, "selfish"), tries: rapid.Int32Range(0, 2).Draw(t, "retries")}
	for i := range n.hosts {
		n.hosts[i] = host{
			core: n.site(i), queue: map[batch.Key]bool{}, asked: map[batch.Key]bool{}, servers: map[batch.Key]bool{},
			never: map[batch.Key]bool{}, ran: map[batch.Key]batch.Outcome{},
		}
	}
	return n
}

var hostNames = [...]string{"s", "t", "u"}

func (n *network) site(i int) *Site {
	s, err := New(Config{Name: hostNames[i], Platform: batch.Processors(4), Attempts: 3})
	if err != nil {
		n.Fatal(err)
	}
	return s
}

// call loads the job, makes a call, commits its writes and carries out its effects. If the site
// is killed before or after the commit, the effects are lost and call returns false.
func (n *network) call(i int, calm bool, f func(s *Site)) (heard bool) {
	h := &n.hosts[i]
	if h.disk != nil {
		if err := h.core.Recall(h.disk); err != nil {
			n.Fatal(err)
		}
	}
	f(h.core)
	crash := 0
	if !calm {
		crash = rapid.IntRange(0, 40).Draw(n.T, "crash")
	}
	if crash == 1 { // before the commit
		n.restart(i)
		return false
	}
	fx := take(h.core, n.now)
	for _, w := range fx.Writes {
		h.disk = &w.Record
	}
	if crash == 2 { // after it
		n.restart(i)
		return false
	}
	n.carryOut(i, &fx)
	return true
}

func (n *network) carryOut(i int, fx *Effects) {
	h := &n.hosts[i]
	for _, c := range fx.Plans {
		if _, ran := h.ran[c.Key]; c.Kind == batch.CmdSubmit && !ran && !h.asked[c.Key] && !h.servers[c.Key] &&
			!h.never[c.Key] {
			h.queue[c.Key] = true
		}
	}
	for _, c := range fx.Commands {
		switch _, queued := h.queue[c.Key]; {
		case c.Kind == batch.CmdCancel:
			delete(h.queue, c.Key)
			n.kill(i, c.Key)
		case c.Kind == batch.CmdConfirm:
			h.queue[c.Key] = true
		case queued:
			h.queue[c.Key] = c.Kind != batch.CmdHold
		}
	}
	h.claims = append(h.claims, fx.Claims...)
	n.bag = append(n.bag, fx.Messages...)
}

// kill ends a running attempt. It claims an attempt that is being launched, so that it cannot
// run.
func (n *network) kill(i int, key batch.Key) {
	h := &n.hosts[i]
	outcome, ran := h.ran[key]
	switch {
	case ran && outcome.End == 0:
		if !n.wanted {
			n.Fatal("a job is killed without a cancel")
		}
		h.ran[key] = batch.Outcome{End: batch.EndCancelled}
	case !ran && !h.never[key]:
		h.servers[key] = true
	}
}

// restart creates a core from the disk. It claims the attempts that may have been launched.
func (n *network) restart(i int) {
	h := &n.hosts[i]
	h.core, h.claims = n.site(i), nil
	if !n.selfish {
		h.queue = map[batch.Key]bool{}
	}
	if h.disk == nil {
		return
	}
	if j, err := h.disk.job(); err != nil {
		n.Fatal(err)
	} else if j.tombstone() {
		return
	}
	if err := h.core.Restore([]Record{*h.disk}); err != nil {
		n.Fatal(err)
	}
	var attempts []RecoveredAttempt
	for _, key := range h.core.Unsettled() {
		f := RecoveredAttempt{Won: n.compete(i, key)}
		if outcome := h.ran[key]; !f.Won && outcome.End != 0 {
			f = ends(outcome.End)
			f.Found.Outcome = outcome
		} else if !f.Won {
			f = runs(1)
		}
		attempts = append(attempts, f)
	}
	if err := h.core.Recover(n.now, attempts); err != nil {
		n.Fatal(err)
	}
	n.call(i, true, func(*Site) {})
}

// compete makes a claim for the server. It returns false if the attempt has run.
func (n *network) compete(i int, key batch.Key) bool {
	h := &n.hosts[i]
	if _, ran := h.ran[key]; ran {
		return false
	}
	if !h.never[key] {
		h.servers[key] = true
	}
	return true
}

// launch carries out a requested launch.
func (n *network) launch(i int, key batch.Key, dies bool) {
	h := &n.hosts[i]
	delete(h.asked, key)
	_, ran := h.ran[key]
	switch {
	case h.servers[key] || h.never[key] || ran:
	case dies:
		h.never[key] = true
	default:
		h.ran[key] = batch.Outcome{}
		n.starts++
	}
}

// news reports the state of an attempt to its site. Repeated reports are valid.
func (n *network) news(i int, key batch.Key, calm bool) {
	h := &n.hosts[i]
	outcome, ran := h.ran[key]
	switch {
	case ran && outcome.End != 0:
		n.call(i, calm, func(s *Site) { _, _ = s.Ended(n.now, key, outcome, nil) })
	case ran:
		n.call(i, calm, func(s *Site) { _, _ = s.Running(n.now, key, nil, nil) })
	case h.never[key]:
		n.call(i, calm, func(s *Site) { _, _ = s.Ended(n.now, key, neverRan, nil) })
	case h.servers[key] && !h.asked[key]: // cancelled before its launch
		n.call(i, calm, func(s *Site) {
			if j := s.book.byID["a"]; j != nil && j.State == Cancelling {
				_, _ = s.Ended(n.now, key, batch.Outcome{End: batch.EndCancelled}, nil)
			}
		})
	}
}

// start lets the batch system start an attempt.
func (n *network) start(i int, key batch.Key, calm bool) {
	if n.selfish {
		delete(n.hosts[i].queue, key)
		n.hosts[i].asked[key] = true
		return
	}
	var err error
	if n.call(i, calm, func(s *Site) { _, err = s.Starting(n.now, key) }) && err == nil {
		delete(n.hosts[i].queue, key)
		n.hosts[i].asked[key] = true
	}
}

func (n *network) answerClaim(i int, calm bool) {
	h := &n.hosts[i]
	key := h.claims[0]
	h.claims = h.claims[1:]
	won := n.compete(i, key)
	n.call(i, calm, func(s *Site) { s.Claimed(n.now, key, won) })
}

func (n *network) deliver(at int, keep, calm bool) {
	m := n.bag[at]
	if !keep {
		n.bag = append(n.bag[:at:at], n.bag[at+1:]...)
	}
	for i, name := range hostNames {
		if name != m.To {
			continue
		}
		var reply Message
		var some bool
		if n.call(i, calm, func(s *Site) {
			reply, some = s.Receive(n.now, n.attach(&m), idle("a", n.now.Add(batch.Hour)))
		}) && some {
			n.bag = append(n.bag, reply)
		}
	}
}

// attach adds the dossier to a Reserve: a restarted core does not hold it in memory.
func (n *network) attach(m *Message) *Message {
	if m.Kind != Reserve || m.Parcel.Dossier != nil {
		return m
	}
	c, p := *m, *m.Parcel
	p.Dossier = &Dossier{Request: *n.request()}
	c.Parcel = &p
	return &c
}

func (n *network) request() *Request { return &Request{Menu: menu(2, 10), Retries: n.tries} }

// failed is an outcome after which the job can be retried.
var failed = batch.Outcome{End: batch.EndFailed, ExitCode: 1}

// job returns a site's record of the job, from memory or from its disk.
func (n *network) job(i int) Job {
	h := &n.hosts[i]
	if j := h.core.book.byID["a"]; j != nil {
		return *j
	}
	if h.disk == nil {
		return Job{}
	}
	j, err := h.disk.job()
	if err != nil {
		n.Fatal(err)
	}
	return *j
}

package faults

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// most is the number of messages that are kept to be sent again after the end.
const most = 64

// send delivers a message from one node to another: never, once or twice, soon or late. deliver
// can be called again at any time.
func (w *world) send(from, to int, deliver func()) {
	if w.sent++; len(w.old) < most {
		w.old = append(w.old, deliver)
	} else if i := w.rng.IntN(w.sent); i < most {
		w.old[i] = deliver
	}
	if w.calm {
		w.after(w.between(batch.Millisecond, 20*batch.Millisecond), deliver)
		return
	}
	if w.cut[from][to] > w.now || w.chance(w.sc.loss) {
		w.counts[Lost]++
		return
	}
	copies := 1
	if w.chance(w.sc.double) {
		w.counts[Doubled]++
		copies = 2
	}
	for range copies {
		delay := w.between(batch.Millisecond, 50*batch.Millisecond)
		if w.chance(w.sc.late) {
			w.counts[Late]++
			longest := 3 * batch.Second
			if w.chance(300) {
				longest = 2 * batch.Minute
			}
			delay = w.between(delay, longest)
		}
		w.after(delay, deliver)
	}
}

// partition separates two nodes, or one node from all others, for a while, sometimes in one
// direction only.
func (w *world) partition() {
	w.every(w.sc.cutEvery, func() {
		w.counts[Cut]++
		a, b := w.rng.IntN(len(w.cut)), w.rng.IntN(len(w.cut))
		until := w.now.Add(w.between(batch.Second/2, 15*batch.Second))
		w.logf(nil, nil, "partition of node %d (from %d) for %v", a, b, until.Sub(w.now))
		for other := range w.cut {
			if b == a || other == b {
				w.cut[a][other] = until
				if !w.chance(200) {
					w.cut[other][a] = until
				}
			}
		}
	})
}

// post sends a message of the core to another site.
func (s *server) post(m *site.Message) {
	f := s.w.byID[m.Job]
	to := s.w.siteOf(m.To)
	out := *m
	if out.Parcel != nil {
		p := *out.Parcel
		if p.Dossier == nil {
			if p.Dossier = s.disk.page(f).dossier; p.Dossier == nil {
				return // the job was released meanwhile: the message is obsolete
			}
		}
		if !s.disk.page(f).files {
			panic(violation("the files of a job that is offered to another site are not there"))
		}
		out.Parcel = &p
	}
	if s.w.trace != nil {
		s.w.logf(s, f, "sends %v(%d) to %s", out.Kind, out.Epoch, out.To)
	}
	sent := s.w.now
	s.w.send(s.node, to.node, func() {
		if s.w.now.Sub(sent) < site.Horizon {
			to.receive(out)
		}
	})
}

// receive handles a message from another site. It fetches a job's input before it accepts the
// job.
func (s *server) receive(m site.Message) {
	if !s.up {
		return
	}
	if m.Kind == site.Reserve {
		life := s.life
		s.w.after(s.w.between(batch.Microsecond, s.w.sc.pull), func() {
			if s.life == life && s.up {
				s.take(m)
			}
		})
		return
	}
	s.take(m)
}

func (s *server) take(m site.Message) {
	f := s.w.byID[m.Job]
	s.call(f, func(now batch.Time) func(bool) {
		if s.w.trace != nil {
			s.w.logf(s, f, "takes %v(%d) from %s", m.Kind, m.Epoch, m.From)
		}
		if m.Parcel != nil {
			p := *m.Parcel // the message can arrive twice
			m.Parcel = &p
		}
		if m.Kind == site.Reserve {
			s.disk.page(f).files = true // the files were staged and are now moved into place
		}
		answer, reply := s.core.Receive(now, &m, s.system)
		if m.Kind == site.Reserve {
			s.keep(f)
		}
		if !reply {
			return nil
		}
		return func(ok bool) {
			if ok {
				s.post(&answer)
			}
		}
	})
}

// keep drops the fetched files of a job that was not accepted. Files of a job that the disk
// records as kept stay.
func (s *server) keep(f *jobTruth) {
	if r := s.disk.record(f); r != nil && r.Kept {
		return
	}
	if j, err := s.core.Job(f.id); err != nil || !j.Kept {
		s.disk.page(f).files = false
	}
}

// misbehave contains the planted bugs of a server.
func (s *server) misbehave(r *site.Record) {
	f := s.w.byID[r.ID]
	switch {
	case s.w.plant == EarlyConfirm && r.State == site.Yielding.String():
		s.post(&site.Message{Kind: site.Confirm, From: s.name, To: r.Transit.Peer, Job: r.ID, Epoch: r.Epoch})
	case s.w.plant == DropOnSilence && r.State == site.Incoming.String():
		s.drop(f, r.Epoch, 3*s.w.sc.patience.First)
	case s.w.plant == LeaseIsProof && r.State == site.Incoming.String() &&
		r.Transit.Moves[len(r.Transit.Moves)-1].Reason == "reallocation":
		s.drop(f, r.Epoch, s.w.sc.patience.First)
	case s.w.plant == EarlyCollection && r.State == site.Gone.String() && !r.Transit.Acked:
		s.w.logf(s, f, "collects the record of a job that is gone")
		*s.disk.page(f) = page{}
		s.w.check(f)
	}
}

// drop drops an incoming job by a timer, which no site may do.
func (s *server) drop(f *jobTruth, epoch uint32, after batch.Duration) {
	life := s.life
	s.w.after(after, func() {
		if s.life != life || !s.up {
			return
		}
		s.call(f, func(now batch.Time) func(bool) {
			_, _ = s.core.Settle(now, f.id, epoch, site.SettleAborted, "planted") // the job can be settled already
			return nil
		})
	})
}

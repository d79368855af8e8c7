package faults

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// operate is an operator who settles what a lost site has left open, from time
// to time. He knows what nobody on a live grid does: what the lost disk had. So
// he never gives a wrong word, and what is tested is that a right one settles all.
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
				for _, f := range w.facts {
					w.settle(s, lost, f)
				}
			}
		})
	}
}

// settle decides about a job of which the other site is lost.
func (w *world) settle(s, lost *server, f *fact) {
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
			return // it was there, and is lost
		}
		how = site.SettleTakeBack
	default:
		return
	}
	s.call(f, func(now batch.Time) func(bool) {
		if _, err := s.core.Settle(now, f.id, r.Epoch, how, "its other site is lost"); err == nil {
			w.counts[Settled]++
			w.say(s, f, "an operator settles epoch %d: %d", r.Epoch, how)
		}
		return nil
	})
}

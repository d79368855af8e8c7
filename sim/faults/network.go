package faults

import "github.com/seed-9b8f70bb/drover/batch"

// most is how many messages are kept, to be sent again after the end.
const most = 64

// send brings something from one node to another, or does not: once, twice, soon
// or long after it was sent. deliver may be called again whenever.
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

// partition lets two nodes, or one and all others, not hear of each other for a
// while; now and then only in one direction.
func (w *world) partition() {
	w.every(w.sc.cutEvery, func() {
		w.counts[Cut]++
		a, b := w.rng.IntN(len(w.cut)), w.rng.IntN(len(w.cut))
		until := w.now.Add(w.between(batch.Second/2, 15*batch.Second))
		w.say(nil, nil, "partition of node %d (from %d) for %v", a, b, until.Sub(w.now))
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

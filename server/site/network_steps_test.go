package site

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// pick returns one of some attempts. The choice is independent of map order, so runs are
// reproducible.
func pick[V any](t *rapid.T, set map[batch.Key]V) (batch.Key, bool) {
	var best batch.Key
	found := false
	for key := range set {
		if !found || key.Epoch > best.Epoch || key.Epoch == best.Epoch && key.Attempt > best.Attempt {
			best, found = key, true
		}
	}
	if found && rapid.IntRange(0, 3).Draw(t, "older") == 0 {
		for key := range set {
			if key.Epoch < best.Epoch || key.Epoch == best.Epoch && key.Attempt < best.Attempt {
				best = key
			}
		}
	}
	return best, found
}

// step makes a random step.
func (n *network) step() {
	i := rapid.IntRange(0, len(n.hosts)-1).Draw(n.T, "site")
	for k := range n.hosts { // prefer the site that has the job
		if authority(n.job(k).State) && rapid.IntRange(0, 2).Draw(n.T, "elsewhere") > 0 {
			i = k
		}
	}
	h := &n.hosts[i]
	other := hostNames[(i+rapid.IntRange(1, 2).Draw(n.T, "other"))%len(hostNames)]
	switch rapid.IntRange(0, 15).Draw(n.T, "step") {
	case 0, 1, 2, 3, 4:
		if len(n.bag) > 0 {
			n.deliver(rapid.IntRange(max(0, len(n.bag)-8), len(n.bag)-1).Draw(n.T, "message"),
				rapid.Bool().Draw(n.T, "keep"), false)
		}
	case 5, 6, 7:
		seen := n.job(i).Epoch
		n.call(i, false, func(s *Site) {
			_, _ = s.Move(n.now, MoveRequest{Job: "a", To: other, Seen: seen}, idle("a", n.now.Add(batch.Hour)))
		})
	case 8:
		n.call(i, false, func(s *Site) { _, _ = s.Hold(n.now, "r", batch.Minute, nil) })
	case 9:
		n.call(i, false, func(s *Site) { _, _ = s.Place(n.now, "r", "", []Placement{{Job: "a", To: other}}) })
	case 10:
		if n.now = min(max(h.core.Wake(), n.now), n.now.Add(batch.Hour)); true {
			n.call(i, false, func(s *Site) { s.Tick(n.now) })
		}
	case 11, 12:
		if len(h.claims) > 0 {
			n.answerClaim(i, false)
		}
	case 13:
		if rapid.IntRange(0, 4).Draw(n.T, "cancel") == 0 {
			n.wanted = true
			n.call(i, false, func(s *Site) { _, _ = s.Cancel(n.now, "a") })
		}
	case 14:
		if key, some := pick(n.T, h.queue); some && rapid.IntRange(0, 2).Draw(n.T, "start") == 0 {
			n.start(i, key, false)
		}
		if key, some := pick(n.T, h.asked); some {
			n.launch(i, key, rapid.Bool().Draw(n.T, "dies"))
		}
	case 15:
		set := h.never
		if len(h.ran) > 0 && rapid.Bool().Draw(n.T, "of one that ran") {
			set = map[batch.Key]bool{}
			for key, outcome := range h.ran {
				if set[key] = true; outcome.End == 0 && rapid.Bool().Draw(n.T, "ends") {
					h.ran[key] = rapid.SampledFrom([]batch.Outcome{{End: batch.EndDone}, failed}).Draw(n.T, "end")
				}
			}
		}
		if key, some := pick(n.T, set); some {
			n.news(i, key, false)
		}
	}
}

// settle runs without faults and new orders until the job has ended. It drops the messages in
// transit, because a site repeats all messages that matter.
func (n *network) settle() {
	n.bag = nil
	for range 200 {
		n.now = n.now.Add(batch.Minute)
		for i := range n.hosts {
			h := &n.hosts[i]
			n.call(i, true, func(s *Site) { s.Tick(n.now) })
			for len(h.claims) > 0 {
				n.answerClaim(i, true)
			}
			for key, free := range h.queue {
				if free {
					n.start(i, key, true)
				}
			}
			for key := range h.asked {
				n.launch(i, key, false)
			}
			for key, outcome := range h.ran {
				if outcome.End == 0 {
					h.ran[key] = batch.Outcome{End: batch.EndDone}
				}
				n.news(i, key, true)
			}
			for _, set := range []map[batch.Key]bool{h.never, h.servers} {
				for key := range set {
					n.news(i, key, true)
				}
			}
		}
		for len(n.bag) > 0 {
			n.deliver(0, false, true)
		}
		n.check()
		if n.over() {
			return
		}
	}
	for i := range n.hosts {
		j := n.job(i)
		n.Logf("%s: %v epoch %d under %d attempt %d, %+v, queue %v, ran %v, asked %v, claims %v", hostNames[i], j.State,
			j.Epoch, j.Under, j.Attempt,
			j.Transit, n.hosts[i].queue, n.hosts[i].ran, n.hosts[i].asked, n.hosts[i].claims)
	}
	n.Fatal("the job does not end")
}

// over reports whether the job has ended at one site and the other sites have no unsettled record
// of it.
func (n *network) over() bool {
	ended := 0
	for i := range n.hosts {
		switch j := n.job(i); {
		case j.State == Gone && j.Transit.Acked, j.State == Absent:
		case j.State.Final() && j.State != Gone:
			ended++
			if j.State == Cancelled && !n.wanted {
				n.Fatal("the job is cancelled without a request")
			}
			if j.State == Done != (n.hosts[i].ran[j.Key()].End == batch.EndDone) {
				n.Fatalf("the job is %v and was started %d times", j.State, n.starts)
			}
			if int(j.Retried) != min(n.failures(), int(n.tries)) && !n.wanted {
				n.Fatalf("the job was retried %d times and failed %d times", j.Retried, n.failures())
			}
		default:
			return false
		}
	}
	return ended == 1
}

func TestAJobIsNeverLostOrDoubledBetweenSites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(t)
		n.call(0, true, func(s *Site) {
			_, _ = s.Submit(n.now, Submission{ID: "a", Request: n.request()}, instant{})
		})
		n.check()
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			n.step()
			n.check()
		}
		n.settle()
	})
}

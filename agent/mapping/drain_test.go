package mapping

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// drainTest plays a site that drains.
type drainTest struct {
	t     *testing.T
	now   batch.Time
	site  *Site
	jobs  *Jobs
	drain *Drain
}

func newDrainTest(t *testing.T, waiting string) *drainTest {
	d := &drainTest{
		t: t, site: &Site{Name: "lyon", Load: Load{Draining: true}}, jobs: NewJobs(roomy),
		drain: NewDrain(DrainLimits{AtOnce: 2, Retry: 10 * s, Longest: 40 * s}),
	}
	d.jobs.Begin("lyon")
	for i, id := range strings.Fields(waiting) {
		d.jobs.Put(0, "lyon", Digest{ID: id, State: Waiting, Submitted: int64(i), Service: "lu"})
	}
	return d
}

// tell has the site tell a job's state.
func (d *drainTest) tell(id string, state State, epoch uint32) {
	was, _ := d.jobs.Get("lyon", id)
	was.ID, was.State, was.Epoch = id, state, epoch
	d.jobs.Put(d.now, "lyon", was)
}

func (d *drainTest) done(outcome Outcome, ids ...string) {
	for _, id := range ids {
		d.drain.Done(d.now, "lyon", id, outcome)
	}
}

func (d *drainTest) next(want string) {
	d.t.Helper()
	if got := strings.Join(d.drain.Next(d.now, d.site, d.jobs, nil), " "); got != want {
		d.t.Errorf("at %v: %q are to leave, want %q", d.now, got, want)
	}
}

func (d *drainTest) wait(pause batch.Duration) { d.now = d.now.Add(pause) }

func TestOnlyJobsOfAWithdrawnServiceLeave(t *testing.T) {
	d := newDrainTest(t, "a b c")
	d.site.Load = Load{Withdrawn: []Withdrawal{{Service: "other"}}}
	d.next("")
	d.jobs.Put(0, "lyon", Digest{ID: "z", State: Waiting, Submitted: 99, Service: "other"})
	d.next("z")
}

func TestDrainMovesWaitingJobsInOrderAFewAtATime(t *testing.T) {
	d := newDrainTest(t, "a b c d e")
	d.tell("b", Running, 0)
	d.tell("d", Held, 0)
	d.next("a c")
	d.next("")
	d.done(Ordered, "a")
	d.next("") // begun, but not yet reported by the site
	d.tell("a", Moving, 1)
	d.next("")
	d.done(Ordered, "c")
	d.tell("c", Moving, 1)
	d.next("")
	d.tell("a", Gone, 1)
	d.next("e")
	d.tell("d", Waiting, 0) // its round is over
	d.next("")
	d.tell("c", Gone, 1)
	d.next("d")
	d.done(Ordered, "d", "e")
	d.tell("d", Gone, 1)
	d.tell("e", Done, 0) // it had started
	d.next("")
}

func TestDrainCountsMovesOfOtherAgents(t *testing.T) {
	d := newDrainTest(t, "a b c")
	d.tell("b", Moving, 1)
	d.next("a")
	d.tell("c", Yielding, 1)
	d.done(Overtaken, "a")
	d.next("")
}

func TestPausesGrowWithEachAbortedMove(t *testing.T) {
	d := newDrainTest(t, "a")
	for i, pause := range []batch.Duration{10 * s, 20 * s, 40 * s, 40 * s} {
		d.next("a")
		d.done(Ordered, "a")
		d.tell("a", Moving, uint32(i+1))
		d.next("")
		d.tell("a", Waiting, uint32(i+1))
		d.next("") // which begins the pause
		d.wait(pause - 1)
		d.next("")
		d.wait(1)
	}
}

func TestDrainSeesAnAbortWithoutTheMove(t *testing.T) {
	d := newDrainTest(t, "a")
	d.next("a")
	d.tell("a", Waiting, 1) // reported before the order's reply
	d.done(Ordered, "a")
	d.next("")
	d.wait(10 * s)
	d.next("a")
}

func TestAnOrderThatTheSiteNeverReportsIsRepeated(t *testing.T) {
	d := newDrainTest(t, "a")
	d.next("a")
	d.done(Ordered, "a")
	d.wait(seenWithin - 1)
	d.next("")
	d.wait(1)
	d.next("a")
}

func TestPermanentRefusalsPauseAJobTheLongest(t *testing.T) {
	d := newDrainTest(t, "a b c")
	d.next("a b")
	d.done(NoSite, "a")
	d.done(Immovable, "b")
	d.next("c")
	d.done(Overtaken, "c")
	d.wait(10 * s)
	d.next("a c")
	d.done(NoSite, "a")
	d.done(Overtaken, "c")
	d.wait(10 * s)
	d.next("c")
	d.done(Overtaken, "c")
	d.wait(10 * s)
	d.next("a c")
	d.done(NoSite, "a", "c")
	d.wait(10 * s)
	d.next("b c")
}

func TestAServiceWithoutASiteIsNotTriedJobByJob(t *testing.T) {
	d := newDrainTest(t, "a b c d e f")
	d.jobs.Put(0, "lyon", Digest{ID: "z", State: Waiting, Submitted: 99, Service: "other"})
	d.next("a b")
	d.done(NoSite, "a", "b")
	d.next("z") // the next of the same service would find none either
	d.done(Ordered, "z")
	d.tell("z", Gone, 1)
	d.next("")
	d.wait(10 * s)
	d.next("a b") // and now again, from the first on
	d.done(NoSite, "a", "b")
	d.wait(10 * s)
	d.next("c d")
}

func TestStopForgetsASite(t *testing.T) {
	d := newDrainTest(t, "a")
	d.next("a")
	d.drain.Stop("lyon")
	d.done(NoSite, "a") // too late to matter
	d.next("a")
}

func TestEveryJobLeavesAndAtMostAFewAtOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := newDrainTest(t, "a b c d e f g")
		other := NewDrain(d.drain.limits) // of another agent, which sees the same
		truth := map[string]*Digest{}
		var asked [2][]string
		for i := range 7 {
			id := string(rune('a' + i))
			truth[id] = &Digest{ID: id, State: Waiting, Submitted: int64(i), Service: "lu"}
		}
		luck := func(what string) bool { return rapid.IntRange(0, 3).Draw(r, what) > 0 }
		for step := 0; ; step++ {
			if step > 2000 {
				r.Fatalf("jobs still wait: %v", truth)
			}
			d.wait(s)
			for i, drain := range []*Drain{d.drain, other} {
				asked[i] = drain.Next(d.now, d.site, d.jobs, asked[i])
				if len(asked[i]) == 0 || step < 200 && !luck("reply") {
					continue
				}
				id := asked[i][0]
				asked[i] = asked[i][1:]
				seen, _ := d.jobs.Get("lyon", id)
				switch j := truth[id]; {
				case j.State != Waiting || seen.Epoch != j.Epoch:
					drain.Done(d.now, "lyon", id, Overtaken)
				case step < 200 && !luck("place"):
					drain.Done(d.now, "lyon", id, NoSite)
				default:
					j.State, j.Epoch = Moving, j.Epoch+1
					drain.Done(d.now, "lyon", id, Ordered)
				}
			}
			moving, left := 0, 0
			for i := range 7 {
				j := truth[fmt.Sprintf("%c", 'a'+i)]
				if j.State == Moving && (step >= 200 || luck("settle")) {
					if step >= 200 || luck("commit") {
						j.State = Gone
					} else {
						j.State = Waiting
					}
				}
				if j.State == Moving {
					moving++
				}
				if j.State != Gone {
					left++
				}
				if step >= 200 || luck("notified") {
					d.jobs.Put(d.now, "lyon", *j)
				}
			}
			if moving > 2*2 { // two agents that do not know of each other's orders yet
				r.Fatalf("%d moves under way", moving)
			}
			if left == 0 {
				return
			}
		}
	})
}

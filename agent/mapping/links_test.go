package mapping

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestHowLongInputTravelsIsKnownWhereSomebodyHasSaidHowFast(t *testing.T) {
	slow := Link{Bandwidth: 10}
	pair := Links{Pairs: map[Pair]Link{{From: "a", To: "b"}: {}}}
	for name, c := range map[string]struct {
		links    Links
		from, to string
		bytes    int64
		want     batch.Duration
		known    bool
	}{
		"nothing is said":            {Links{}, "a", "b", 100, 0, false},
		"a default":                  {Links{Default: slow}, "a", "b", 100, 10 * batch.Second, true},
		"nothing to travel":          {Links{Default: slow}, "a", "b", 0, 0, false},
		"this pair, infinitely fast": {pair, "a", "b", 100, 0, true},
		"another pair":               {pair, "b", "a", 100, 0, false},
	} {
		if d, known := c.links.Known(c.from, c.to, c.bytes); d != c.want || known != c.known {
			t.Errorf("%s: %v %v, want %v %v", name, d, known, c.want, c.known)
		}
	}
}

func TestAJobWaitsWhereverItHasNotStarted(t *testing.T) {
	j := NewJobs(JobsLimits{Active: 10, Gone: 10, GoneFor: batch.Hour})
	j.Begin("a")
	j.Begin("b")
	j.Put(0, "a", Digest{ID: "gone", State: Gone, To: "b"})
	j.Put(0, "b", Digest{ID: "gone", State: Incoming})
	j.Put(0, "a", Digest{ID: "left", State: Gone, To: "c"})
	j.Put(0, "a", Digest{ID: "held", State: Held})
	j.Put(0, "a", Digest{ID: "runs", State: Running, Started: 5})
	for id, want := range map[string]bool{"gone": true, "left": false, "held": true, "runs": false, "unknown": false} {
		if got := j.Waits(id); got != want {
			t.Errorf("%s waits: %v", id, got)
		}
	}
}

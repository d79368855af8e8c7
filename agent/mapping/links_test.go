package mapping

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestATransferTimeIsKnownIfTheLinkIsConfigured(t *testing.T) {
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

func TestWaitsReportsJobsThatHaveNotStarted(t *testing.T) {
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

func TestDataTravelFromTheNearestSiteThatHasThem(t *testing.T) {
	links := Links{
		Default: Link{Bandwidth: 10, Latency: batch.Second},
		Pairs: map[Pair]Link{
			{From: "near", To: "here"}: {Bandwidth: 100},
			{From: "", To: "here"}:     {Bandwidth: 50},
			{From: "cut", To: "here"}:  {Bandwidth: 1},
		},
	}
	at := func(bytes int64, sites ...string) Stored { return Stored{ID: "d", Bytes: bytes, Sites: sites} }
	sticky := at(100, "far")
	sticky.Sticky = true
	stickyHere := at(100, "here")
	stickyHere.Sticky = true
	for name, tc := range map[string]struct {
		from  string
		bytes int64
		data  []Stored
		want  batch.Duration
		stuck bool
	}{
		"nothing":                 {"", 0, nil, 0, false},
		"the client's part alone": {"", 100, nil, 2 * batch.Second, false},
		"data that are here":      {"", 0, []Stored{at(100, "far", "here")}, 0, false},
		"data that are elsewhere": {"", 0, []Stored{at(100, "far")}, 11 * batch.Second, false},
		"from the nearest":        {"", 0, []Stored{at(100, "far", "near", "cut")}, batch.Second, false},
		"one after the other": {
			"", 100, []Stored{at(100, "far"), at(100, "here"), at(200, "near")}, 15 * batch.Second, false,
		},
		"a client's part from elsewhere": {"near", 100, []Stored{at(100, "near")}, 2 * batch.Second, false},
		"no bytes":                       {"", 0, []Stored{at(0, "far")}, 0, false},
		"data that are nowhere":          {"", 100, []Stored{at(100)}, batch.Forever, false},
		"sticky elsewhere":               {"", 0, []Stored{at(1, "here"), sticky}, 11 * batch.Second, true},
		"sticky here":                    {"", 0, []Stored{stickyHere}, 0, false},
	} {
		d, stuck := links.Gather(tc.from, "here", tc.bytes, tc.data)
		if d != tc.want || (stuck != nil) != tc.stuck {
			t.Errorf("%s: %v, stuck %v, want %v", name, d, stuck, tc.want)
		}
	}
}

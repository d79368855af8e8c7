package mapping

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

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
		"nothing":                        {"", 0, nil, 0, false},
		"the client's part alone":        {"", 100, nil, 2 * batch.Second, false},
		"data that are here":             {"", 0, []Stored{at(100, "far", "here")}, 0, false},
		"data that are elsewhere":        {"", 0, []Stored{at(100, "far")}, 11 * batch.Second, false},
		"from the nearest":               {"", 0, []Stored{at(100, "far", "near", "cut")}, batch.Second, false},
		"one after the other":            {"", 100, []Stored{at(100, "far"), at(100, "here"), at(200, "near")}, 15 * batch.Second, false},
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

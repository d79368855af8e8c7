package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestSecondsAreExact(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0", 1: "0.000001", 1_000_000: "1", 1_500_000: "1.5", 83_333_334: "83.333334", 10_010_000: "10.01",
		-1: "-0.000001", -2_000_000: "-2", -2_500_000: "-2.5", 9_007_199_254_740_993: "9007199254.740993",
	} {
		if got := seconds(us); got != want {
			t.Errorf("%d us: %q, want %q", us, got, want)
		}
	}
}

func TestPlacesAreTheLowestFreeProcessors(t *testing.T) {
	p := NewPlaces(8, 5)
	width := func(n int32) *batch.Job { return &batch.Job{Shape: batch.Shape{Width: n}} }
	p.start(0, width(2), nil) // 0-1
	p.start(1, width(1), nil) // 2
	p.start(2, width(2), nil) // 3-4
	p.end(1)
	p.start(3, width(3), nil) // 2 and what is behind 4
	p.end(0)
	p.start(4, width(1), []batch.Location{{Node: 1, Processors: 1}}) // as the policy says
	got := []string{p.of(0), p.of(1), p.of(2), p.of(3), p.of(4)}
	if d := cmp.Diff([]string{"0-1", "2", "3-4", "2 5-6", "1"}, got); d != "" {
		t.Errorf("places (-want +got):\n%s", d)
	}
	var none *Places
	if got := none.of(3); got != "" {
		t.Errorf("places that were not kept: %q", got)
	}
}

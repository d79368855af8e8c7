package convergent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Many jobs run under a ledger: no resource is exceeded, all jobs end, and a second run gives
// the same schedule.
func TestSchedulesAreReproducible(t *testing.T) {
	for _, a := range algorithms {
		for _, preset := range []string{"paper", "deadlines"} {
			t.Run(a+"/"+preset, func(t *testing.T) {
				run := func() []string {
					p, list := crowd(7, 20, 6, 150, 60)
					return play(t, policy(t, p, batch.Settings{"algorithm": a, "preset": preset}), p, list).lines
				}
				if diff := cmp.Diff(run(), run()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// With the preset deadlines convergent scheduling has fewer late jobs than any peer, even than
// an EDF that replans all jobs at each event, under high and low load. The farms differ from
// those that the preset was tuned on.
func TestPresetDeadlinesHasFewerLateJobsThanAnyPeer(t *testing.T) {
	for _, gap := range []int{12, 24, 30, 36, 60} {
		late := func(s batch.Settings) (late int) {
			for seed := range uint64(2) {
				p, list := crowd(50+seed, 50, 20, 300, gap)
				late += play(t, policy(t, p, s), p, list).late
			}
			return late
		}
		own := late(batch.Settings{"algorithm": "CS_ip", "preset": "deadlines"})
		for name, peer := range map[string]batch.Settings{
			"BF-easy": {"algorithm": "BF-easy"}, "BF-rm": {"algorithm": "BF-rm"}, "BF-unrm": {"algorithm": "BF-unrm"},
			"EDF": {"algorithm": "EDF"}, "EDF anew": {"algorithm": "EDF", "anew": "true"},
		} {
			got := late(peer)
			t.Logf("every %d s: CS_ip %d, %s %d", gap, own, name, got)
			if own > got || own == got && own > 0 {
				t.Errorf("every %d s: %d jobs are late, under %s %d", gap, own, name, got)
			}
		}
	}
}

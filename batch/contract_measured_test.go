package batch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// A policy that counts processors plans with requested resources. Measurements of running
// jobs do not change its decisions.
func TestCountingPoliciesIgnoreMeasuredNeeds(t *testing.T) {
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				platform, ops := scene(t)
				which := rapid.IntRange(0, 9).Draw(t, "measured")
				run := func(measure bool) []string {
					c := newChaos(t, p.make, platform)
					c.afterPass = func(now batch.Time) {
						for h := range c.jobs {
							if measure && int(h)%10 <= which {
								c.Policy.Apply(now, &batch.Event{Kind: batch.Measured, Job: h, CPU: 1, Memory: 1 << 40})
							}
						}
					}
					c.play(ops)
					return c.log
				}
				if diff := cmp.Diff(run(false), run(true)); diff != "" {
					t.Fatalf("(-unmeasured +measured):\n%s", diff)
				}
			})
		})
	}
}

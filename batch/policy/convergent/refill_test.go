package convergent

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// Refill assigns only free licenses, and no job loses a machine.
func TestRefillAssignsFreeLicensesOnly(t *testing.T) {
	more := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := small(r)
		var plans [2][]int32
		for k, refill := range []string{"false", "true"} {
			set, err := parse(batch.Settings{"algorithm": "CS_nip", "refill": refill})
			if err != nil {
				t.Fatal(err)
			}
			plans[k] = make([]int32, len(s.Machines))
			if k == 0 {
				order := int64(0)
				for range 3 {
					later(r, s, plans[k], &order)
				}
			}
			newPlanner(set).Plan(s, plans[k])
		}
		var count [2]int
		left := make([]int32, len(s.Licenses))
		for l := range left {
			left[l] = s.Licenses[l].Copies
		}
		for k, plan := range plans {
			for _, i := range plan {
				if i == roster.Free {
					continue
				}
				count[k]++
				for _, n := range s.Jobs[i].Licenses {
					if left[n.License] -= int32(k) * n.Copies; left[n.License] < 0 {
						t.Fatalf("seed %d: more copies than there are: %v", seed, plans)
					}
				}
			}
		}
		if count[1] < count[0] {
			t.Fatalf("seed %d: %v, %v without refilling", seed, plans[1], plans[0])
		}
		if count[1] > count[0] {
			more++
		}
	}
	if more < 5 {
		t.Errorf("only %d plans are longer by refilling: too few to prove anything", more)
	}
}

package farm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every algorithm runs small farms to the end, checked decision by decision, and the same
// each time.
func TestEveryAlgorithmRunsTheFarmToItsEnd(t *testing.T) {
	p := PaperPlan()
	for _, algorithm := range p.Algorithms {
		t.Run(algorithm, func(t *testing.T) {
			for _, rate := range []int64{0, 5} {
				c := Case{
					Set: Loads, Algorithm: algorithm, Seed: 1, Arrival: 60, Machines: 20, Licenses: 6, Jobs: 80,
					Ratio: Range{20, 25}, Reading: Percent, Rate: rate,
				}
				row, _, err := Run(t.Context(), c, Options{Ledger: true})
				if err != nil {
					t.Fatal(err)
				}
				if row.Ended != 80 || row.Killed != 0 || row.Dated == 0 || row.MachineUsage <= 0 ||
					row.MachineUsage > 1 ||
					row.LicenseUsage <= 0 || row.LicenseUsage > 1 || row.Slowdown < 1 {
					t.Errorf("%+v", row)
				}
				again, _, err := Run(t.Context(), c, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(row, again); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// Nothing that is late is so because the deadline could not have been made.
func TestHopelessJobsAreLateUnderEveryAlgorithm(t *testing.T) {
	for _, algorithm := range []string{"CS_ip", "EDF"} {
		c := Case{
			Set: Deadlines, Algorithm: algorithm, Seed: 2, Arrival: 90, Machines: 20, Licenses: 6, Jobs: 60,
			Ratio: Range{55, 65}, Reading: OfEstimate,
		}
		row, _, err := Run(t.Context(), c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if row.Hopeless == 0 || row.Late < row.Hopeless {
			t.Errorf("%s: %d late, %d hopeless", algorithm, row.Late, row.Hopeless)
		}
	}
}

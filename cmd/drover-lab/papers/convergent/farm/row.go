package farm

import (
	"cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Case is one run: an instance and what schedules it.
type Case struct {
	Set string `json:"set"`
	// Algorithm is one of Algorithms. Settings of the policy may stand behind it:
	// "CS_ip deadlineK=2".
	Algorithm string  `json:"algorithm"`
	Seed      int     `json:"seed"`
	Arrival   int     `json:"arrival"` // mean units between submissions
	Machines  int     `json:"machines"`
	Licenses  int     `json:"licenses"`
	Jobs      int     `json:"jobs"`
	Ratio     Range   `json:"ratio"` // copies of a license, percent of its machines
	Reading   Reading `json:"reading"`
	// Rate is the bandwidth between any two machines, in MB in a unit; 0: moving input
	// takes no time.
	Rate int64 `json:"rate"`
}

// Model returns the model that a case's instance is drawn from.
func (c *Case) Model() Model {
	m := Paper(c.Arrival)
	m.Machines, m.Licenses, m.Jobs, m.Ratio, m.Reading = c.Machines, c.Licenses, c.Jobs, c.Ratio, c.Reading
	if c.Set == Growth {
		m.Backlog = max(0, c.Jobs-Later)
	}
	return m
}

// Compare orders cases: by set, then what is to be compared side by side, the algorithms,
// last but for the seed.
func (c *Case) Compare(o *Case) int {
	return cmp.Or(
		cmp.Compare(c.Set, o.Set), cmp.Compare(c.Reading, o.Reading), cmp.Compare(c.Rate, o.Rate),
		cmp.Compare(c.Ratio.Low, o.Ratio.Low), cmp.Compare(c.Ratio.High, o.Ratio.High),
		cmp.Compare(c.Machines, o.Machines), cmp.Compare(c.Licenses, o.Licenses), cmp.Compare(c.Jobs, o.Jobs),
		cmp.Compare(c.Arrival, o.Arrival), cmp.Compare(c.Algorithm, o.Algorithm), cmp.Compare(c.Seed, o.Seed),
	)
}

// Row is a case and what came of it. All of it is the same on every machine.
type Row struct {
	Case
	Ended    int `json:"ended"`    // jobs
	Killed   int `json:"killed"`   // of them, by the policy
	Dated    int `json:"dated"`    // jobs that ended and have a deadline
	Late     int `json:"late"`     // of them
	Hopeless int `json:"hopeless"` // of Dated
	// Slowdown is the mean of jobs without a deadline, WorstSlowdown the largest.
	Slowdown      float64 `json:"slowdown"`
	WorstSlowdown float64 `json:"worst_slowdown"`
	Wait          float64 `json:"wait"`      // mean Tw of all jobs, in units
	Lateness      float64 `json:"lateness"`  // mean of late jobs: units after the deadline
	MachineUsage  float64 `json:"machine"`   // 0..1
	LicenseUsage  float64 `json:"license"`   // 0..1
	Preemptions   int     `json:"preempted"` // times that a job had to leave its machine
	Migrations    int     `json:"migrated"`  // of them, to go on on another one
	Plans         int     `json:"plans"`
	Span          float64 `json:"span"` // units from 0 to the last end
	// Workload is the number of jobs in the system at 0, SampleEvery, twice that, ...:
	// what there is just before that instant's events.
	Workload []int `json:"workload"`
	// Knapsacks is there in cases of Knapsacks alone.
	Knapsacks *Comparison `json:"knapsacks,omitempty"`
}

// SampleEvery is the time between two samples of the workload.
const SampleEvery = 250 * Unit

// LatePercent returns late jobs in percent of those with a deadline.
func (r *Row) LatePercent() float64 { return percent(r.Late, r.Dated) }

// HopelessPercent returns hopeless jobs in percent of those with a deadline: no
// algorithm has fewer late ones.
func (r *Row) HopelessPercent() float64 { return percent(r.Hopeless, r.Dated) }

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// Cost is what a run took of the machine it ran on.
type Cost struct {
	Case
	Seconds float64 `json:"seconds"` // of the policy, all plans together
	First   float64 `json:"first"`   // seconds of the first plan
	// Median and Longest are seconds of a plan, the first one left out. Others that use
	// the machine at the same time change the median least.
	Median  float64 `json:"median"`
	Longest float64 `json:"longest"`
	Plans   int     `json:"plans"`
	// Greedy and Exact are the seconds that all knapsacks of a case of Knapsacks took.
	Greedy float64 `json:"greedy,omitempty"`
	Exact  float64 `json:"exact,omitempty"`
}

// Plan returns the mean seconds of a plan, the first one left out where there are others.
func (c *Cost) Plan() float64 {
	if c.Plans < 2 {
		return c.Seconds
	}
	return (c.Seconds - c.First) / float64(c.Plans-1)
}

func units(d batch.Duration) float64 { return float64(d) / float64(Unit) }

package farm

import (
	"errors"
	"fmt"
	"slices"
)

// Later is how many jobs of a case of Growth come one after another when all others are
// there: each is a plan, and so is each end until the last one has come.
const Later = 40

// Plan says which cases there are.
type Plan struct {
	Sets       []string
	Algorithms []string // of Loads
	Few        []string // algorithms of Deadlines and Bandwidths
	Arrivals   []int    // of Loads
	Seeds      int      // of Loads and Knapsacks, from 1; other sets have at most FewSeeds
	Quick      bool     // of small farms, to see that all works: not the paper's figures
}

// FewSeeds is how often the runs beyond the paper are repeated.
const FewSeeds = 3

// PaperPlan is all that the paper has, and what it leaves open.
func PaperPlan() Plan {
	return Plan{
		Sets: slices.Clone(Sets), Algorithms: slices.Concat(Algorithms, Beyond), Few: slices.Clone(Few),
		Arrivals: slices.Clone(Arrivals), Seeds: Seeds,
	}
}

// MaxSeeds bounds a plan.
const MaxSeeds = 1000

// Validate reports everything that is wrong. Algorithms are checked by the policy.
func (p *Plan) Validate() error {
	var errs []error
	for _, s := range p.Sets {
		if !slices.Contains(Sets, s) {
			errs = append(errs, &NameError{"set", s, Sets})
		}
	}
	for _, a := range slices.Concat(p.Algorithms, p.Few) {
		errs = append(errs, check(a))
	}
	for _, a := range p.Arrivals {
		m := Paper(a)
		errs = append(errs, m.Validate())
	}
	if p.Seeds < 1 || p.Seeds > MaxSeeds {
		errs = append(errs, fmt.Errorf("seeds: %d, accepted: 1..%d", p.Seeds, MaxSeeds))
	}
	return errors.Join(errs...)
}

// Rates are those of Bandwidths.
var Rates = []int64{1000, 100, 10, 1}

// What the runs beyond the paper are about.
var (
	fewArrivals   = []int{6, 12, 20}
	growthJobs    = []int{250, 500, 1000, 1500, 2500, 5000, 10000}
	growthFarms   = []int{150, 1000}
	growthOf      = []string{"CS_ip", "CS_nip", "EDF"}
	growthLargest = 1500 // jobs for a version that plans from scratch on the larger farm
)

// Cases returns the plan's cases, each once. Of one seed all algorithms come before the
// next seed: what is there of a plan that was ended early can be compared.
func (p *Plan) Cases() []Case {
	var all []Case
	for _, set := range p.Sets {
		switch set {
		case Loads:
			p.cross(p.Seeds, p.Arrivals, p.Algorithms, func(c Case) { all = append(all, p.size(c, Loads)) })
		case Knapsacks:
			for _, ratio := range Ratios {
				p.cross(p.Seeds, []int{10}, Algorithms[:1], func(c Case) {
					c = p.size(c, Knapsacks)
					c.Ratio = ratio
					all = append(all, c)
				})
			}
		case Growth:
			all = append(all, p.growth()...)
		case Deadlines:
			for _, reading := range Readings {
				p.cross(min(p.Seeds, FewSeeds), fewArrivals, p.Few, func(c Case) {
					c = p.size(c, Deadlines)
					c.Reading = reading
					all = append(all, c)
				})
			}
		case Bandwidths:
			for _, rate := range Rates {
				p.cross(min(p.Seeds, FewSeeds), fewArrivals, p.Few, func(c Case) {
					c = p.size(c, Bandwidths)
					c.Rate = rate
					all = append(all, c)
				})
			}
		}
	}
	return all
}

// cross yields all combinations, with the paper's model.
func (p *Plan) cross(seeds int, arrivals []int, algorithms []string, yield func(Case)) {
	for seed := 1; seed <= seeds; seed++ {
		for _, arrival := range arrivals {
			for _, algorithm := range algorithms {
				m := Paper(arrival)
				yield(Case{
					Algorithm: algorithm, Seed: seed, Arrival: arrival,
					Machines: m.Machines, Licenses: m.Licenses, Jobs: m.Jobs, Ratio: m.Ratio, Reading: m.Reading,
				})
			}
		}
	}
}

// size gives a case the size that those of its set have.
func (p *Plan) size(c Case, set string) Case {
	c.Set = set
	if set == Knapsacks {
		c.Machines, c.Licenses, c.Jobs = 100, 40, 1000
	}
	if p.Quick {
		c.Machines, c.Jobs, c.Arrival = c.Machines/5, c.Jobs/10, 5*c.Arrival
	}
	return c
}

// growth returns the cases of Growth: one seed each, as they are about seconds. The
// larger farm has fewer sizes for an algorithm that plans from scratch.
func (p *Plan) growth() []Case {
	var all []Case
	for _, machines := range growthFarms {
		for _, jobs := range growthJobs {
			p.cross(1, []int{10}, growthOf, func(c Case) {
				c.Set, c.Machines, c.Jobs = Growth, machines, jobs
				if p.Quick && (jobs > 500 || machines > 150) ||
					c.Algorithm == "CS_nip" && machines > 150 && jobs > growthLargest {
					return
				}
				all = append(all, c)
			})
		}
	}
	return all
}

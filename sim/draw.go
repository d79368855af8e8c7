package sim

import (
	"math/bits"
	"math/rand/v2"
)

// A stream of random numbers for each purpose, so that what is drawn for one does
// not depend on whether anything is drawn for another. Each is a PCG whose seed
// has two halves: the experiment's and the purpose's.
const (
	purposeTypes uint64 = 0x74797065730000 // "types"
	purposeLocal uint64 = 0x6c6f63616c0000 // "local"
)

func stream(seed, purpose uint64) *rand.PCG { return rand.NewPCG(seed, purpose) }

// below draws from 0 up to n-1, each as likely as the others (D. Lemire, "Fast
// Random Integer Generation in an Interval", 2019).
func below(p *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(p.Uint64(), n)
	for least := -n % n; lo < least; {
		hi, lo = bits.Mul64(p.Uint64(), n)
	}
	return hi
}

// draw decides of each job of which type it is and whether it is a local user's.
// Each job takes one number of each purpose, also where that decides nothing, so
// that a job's type does not depend on the others.
func draw(jobs []Job, seed uint64, types []moldableType, local Fraction, sites []GridSite) {
	if len(types) > 0 {
		p, whole := stream(seed, purposeTypes), types[len(types)-1].upTo
		for i := range jobs {
			x := below(p, whole)
			if jobs[i].Width == 1 {
				continue // sequential jobs stay sequential
			}
			k := 0
			for x >= types[k].upTo {
				k++
			}
			jobs[i].Type = uint8(k + 1)
		}
	}
	if !local.IsZero() {
		p := stream(seed, purposeLocal)
		for i := range jobs {
			j := &jobs[i]
			// Who is too wide for the site would not have asked there.
			if below(p, uint64(local.Den)) < uint64(local.Num) && int64(j.Width) <= sites[j.Home].Procs {
				j.Local = true
			}
		}
	}
}

package rounds

import "github.com/seed-9b8f70bb/drover/batch"

// Leads says whether an agent runs the periodic rounds: if its name comes before
// those of all others that are alive. Where agents do not see each other several
// may; that wastes work and harms nothing.
func Leads(name string, living []string) bool {
	for _, other := range living {
		if other < name {
			return false
		}
	}
	return true
}

// Next returns how long it is from an instant, as the clocks on the wall have it, to
// the next multiple of a period. So an agent that is started anew keeps the beat,
// and one that takes over goes on with it.
func Next(now batch.Time, period batch.Duration) batch.Duration {
	past := batch.Duration(now) % period
	if past < 0 {
		past += period
	}
	return period - past
}

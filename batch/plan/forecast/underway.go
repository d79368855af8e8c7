package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// settled applies to a copy the events that the driver still owes, and returns it: how
// long a pause or a migration takes is unknown, and a run has no driver.
func settled(now batch.Time, own batch.Runnable) batch.Runnable {
	owed := slices.Collect(own.Underway)
	for i := range owed {
		own.Apply(now, &owed[i])
	}
	return own
}

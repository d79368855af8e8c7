package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// settled applies to a copy the events that the driver still owes, and returns it. A run
// has no driver, and the duration of a pause or a migration is unknown.
func settled(now batch.Time, own batch.Runnable) batch.Runnable {
	owed := slices.Collect(own.Underway)
	for i := range owed {
		own.Apply(now, &owed[i])
	}
	return own
}

package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// mover is a Runnable whose jobs may be on their way: told to leave, and not gone yet,
// or told to go on, and not there yet.
type mover interface {
	// Underway calls yield with each event that the driver still owes: what ends all
	// that is on its way.
	Underway(yield func(batch.Event) bool)
}

// settled tells a copy that all who are on their way have arrived, and returns it. How
// long they take nobody knows, and a run has nobody else to tell it.
func settled(now batch.Time, own Runnable) Runnable {
	m, ok := own.(mover)
	if !ok {
		return own
	}
	owed := slices.Collect(m.Underway)
	for i := range owed {
		own.Apply(now, &owed[i])
	}
	return own
}

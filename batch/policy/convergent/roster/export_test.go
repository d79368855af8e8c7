package roster

import "github.com/seed-9b8f70bb/drover/batch"

// Look answers asks by an outlook, independent of the number of jobs.
func (r *Roster) Look(now batch.Time, asks []batch.Ask, out []batch.Estimate) { r.look(now, asks, out) }

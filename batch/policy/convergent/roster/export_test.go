package roster

import "github.com/seed-9b8f70bb/drover/batch"

// Look answers asks by an outlook, however few jobs there are.
func (r *Roster) Look(now batch.Time, asks []batch.Ask, out []batch.Estimate) { r.look(now, asks, out) }

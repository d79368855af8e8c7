package dynp

// decider says which policy is active from a step on: the index of one of those
// that are best.
type decider struct {
	kind      deciding
	preferred int // index of a policy
}

type deciding uint8

const (
	simple deciding = iota
	advanced
	preferred
)

// choose picks one of the policies that are among the best, of which there is one.
func (d decider) choose(active int, best mask) int {
	switch {
	case d.kind == preferred && best.has(d.preferred):
		return d.preferred
	case d.kind != simple && best.has(active):
		return active
	}
	return best.lowest()
}

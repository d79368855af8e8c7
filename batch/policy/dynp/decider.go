package dynp

// decider chooses the active policy of a step among those with the best plan.
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

// choose returns the index of one of the best policies; best is not empty.
func (d decider) choose(active int, best mask) int {
	switch {
	case d.kind == preferred && best.has(d.preferred):
		return d.preferred
	case d.kind != simple && best.has(active):
		return active
	}
	return best.lowest()
}

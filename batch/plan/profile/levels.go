package profile

// Level is a free capacity and the end of the time for which at least that much stays
// free.
type Level struct {
	Free  int32
	Until Time
}

// Levels appends the capacity that stays free from an instant on. Each level has less
// capacity than the one before and lasts longer; the last one lasts for ever.
//
//	free   ┌───┐
//	    ───┘   │             levels from here on: 4 until t2, 3 until t3,
//	    4    3 └──┐  ┌───    1 for ever
//	             1└──┘
//	    from   t2 t3
//
// A rectangle that begins at that instant fits if it is within a level's capacity and
// ends by its end.
func (p *Profile) Levels(from Time, out []Level) []Level {
	from = max(from, p.Origin())
	if p.small {
		return p.array.levels(from, out)
	}
	return p.tree.levels(from, out)
}

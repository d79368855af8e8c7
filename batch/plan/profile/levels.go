package profile

// Level says how long so much is free without a break.
type Level struct {
	Free  int32
	Until Time
}

// Levels appends what is free from an instant on without a break: on each level
// less than on the one before, and longer; on the last one for ever.
//
//	free   ┌───┐
//	    ───┘   │             levels from here on: 4 until t2, 3 until t3,
//	    4    3 └──┐  ┌───    1 for ever
//	             1└──┘
//	    from   t2 t3
//
// So what begins at that instant has room if it fits a level and ends by its end.
func (p *Profile) Levels(from Time, out []Level) []Level {
	from = max(from, p.Origin())
	if p.small {
		return p.array.levels(from, out)
	}
	return p.tree.levels(from, out)
}

package profile

// Fit returns the earliest start at or after from at which width is free for
// d, or Never. The origin is the earliest there is.
func (p *Profile) Fit(from Time, d Duration, width int32) Time {
	return p.FitBefore(from, Never, d, width)
}

// FitBefore returns the earliest start in [from, until) at which width is free
// for d or, if that is shorter, until the instant until; Never if there is none.
//
// So a rectangle that begins at until can ask, without being taken out, whether
// it could begin earlier: what it may overlap from there on is itself.
func (p *Profile) FitBefore(from, until Time, d Duration, width int32) Time {
	return p.FitWithin(from, until, until, d, width)
}

// FitWithin is FitBefore for starts in [from, latest) only, where latest is not
// after until.
func (p *Profile) FitWithin(from, latest, until Time, d Duration, width int32) Time {
	if from = max(from, p.Origin()); from >= latest {
		return Never
	}
	if p.small {
		return p.array.fit(from, latest, until, d, width)
	}
	return p.tree.fit(from, latest, until, d, width)
}

// Highest returns the most that is free at any instant in [from, to), which is
// not empty.
func (p *Profile) Highest(from, to Time) int32 {
	from = max(from, p.Origin())
	if p.small {
		return p.array.highest(from, to)
	}
	return p.tree.highest(from, to)
}

// Lowest returns the least that is free at any instant in [from, to), which is not
// empty.
func (p *Profile) Lowest(from, to Time) int32 {
	from = max(from, p.Origin())
	if p.small {
		return p.array.lowest(from, to)
	}
	return p.tree.lowest(from, to)
}

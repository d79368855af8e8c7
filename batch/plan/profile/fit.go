package profile

// Fit returns the earliest start at or after from, and not before the origin, at which
// width is free for d; Never if there is none.
func (p *Profile) Fit(from Time, d Duration, width int32) Time {
	return p.FitBefore(from, Never, d, width)
}

// FitBefore returns the earliest start in [from, until) at which width is free for d or
// up to until, whichever is shorter; Never if there is none.
//
// A rectangle that begins at until can so ask whether it could begin earlier without
// being removed: from until on it would only overlap itself.
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

// Highest returns the highest free capacity in [from, to), which is not empty.
func (p *Profile) Highest(from, to Time) int32 {
	from = max(from, p.Origin())
	if p.small {
		return p.array.highest(from, to)
	}
	return p.tree.highest(from, to)
}

// Lowest returns the lowest free capacity in [from, to), which is not empty.
func (p *Profile) Lowest(from, to Time) int32 {
	from = max(from, p.Origin())
	if p.small {
		return p.array.lowest(from, to)
	}
	return p.tree.lowest(from, to)
}

package profile

// Until returns the first instant at or after from at which less than width is
// free; Never if there is none.
func (p *Profile) Until(from Time, width int32) Time {
	from = max(from, p.Origin())
	if p.small {
		a := p.array
		i := a.holds(from)
		if a[i].free < width {
			return from
		}
		for i++; i < a.len(); i++ {
			if a[i].free < width {
				return a[i].at
			}
		}
		return Never
	}
	c := p.tree.seek(from)
	if c.free < width {
		return from
	}
	if !c.advance(width, true, Never) {
		return Never
	}
	return c.time()
}

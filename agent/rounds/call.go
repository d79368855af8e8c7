package rounds

// call returns the call to a site that is sent next.
func (r *round) call(site int) *Call {
	if r.calls[site] == nil {
		r.calls[site] = &Call{Site: site}
	}
	return r.calls[site]
}

// edit adds an edit to the call to a site; it is part of a choice, or -1 of none.
func (r *round) edit(site, choice int, e Edit) {
	c := r.call(site)
	c.Edits = append(c.Edits, e)
	r.edits[site] = append(r.edits[site], choice)
}

// send sends the calls that were made, and returns them.
func (r *round) send() []*Call {
	var calls []*Call
	for s, c := range r.calls {
		if c != nil {
			calls = append(calls, c)
			r.calls[s] = nil
		}
	}
	if len(calls) == 0 {
		return nil
	}
	r.drafts.Call(calls)
	for _, c := range calls {
		if c.Failed || len(c.Edited) != len(c.Edits) || len(c.Answers) != len(c.Questions) {
			c.Failed = true
			r.lost[c.Site] = true
		}
		r.learn(c)
	}
	return calls
}

// learn takes in what has become of the edits that are part of choices.
func (r *round) learn(c *Call) {
	of := r.edits[c.Site]
	r.edits[c.Site] = of[:0]
	if c.Failed {
		return
	}
	for k, i := range of {
		switch {
		case i < 0:
		case c.Edited[k].Refused:
			r.refused[i] = true
		case c.Edits[k].Put:
			r.choices[i].Shape = c.Edited[k].Shape
		}
	}
}

package farm

// Links say how fast data move. They are not changed: a State gets new ones.
type Links struct {
	// Rate is the bandwidth between any two places that Rates does not tell apart, in
	// bytes per second.
	Rate int64
	// Rates holds, by the place where data lie, the bandwidth to each machine. A nil
	// row, or one that is not there, means Rate.
	Rates [][]int64
}

// To returns the bandwidths from a place to each machine, nil if all of them are Rate.
func (l *Links) To(place int32) []int64 {
	if l == nil || int(place) >= len(l.Rates) {
		return nil
	}
	return l.Rates[place]
}

package farm

// Links are the bandwidths between places. They are immutable: a State gets new ones.
type Links struct {
	// Rate is the bandwidth between any two places without an entry in Rates, in bytes per
	// second.
	Rate int64
	// Rates holds, by the place of the data, the bandwidth to each machine. A nil or missing
	// row means Rate.
	Rates [][]int64
}

// To returns the bandwidths from a place to each machine, nil if all of them are Rate.
func (l *Links) To(place int32) []int64 {
	if l == nil || int(place) >= len(l.Rates) {
		return nil
	}
	return l.Rates[place]
}

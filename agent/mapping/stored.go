package mapping

import "github.com/seed-9b8f70bb/drover/batch"

// Stored are data that stay at sites under a handle, and that a request uses.
type Stored struct {
	ID     string
	Bytes  int64
	Sites  []string // where they are
	Sticky bool     // they may be nowhere else
}

// At says whether a site has the data.
func (s *Stored) At(site string) bool {
	for _, name := range s.Sites {
		if name == site {
			return true
		}
	}
	return false
}

// Gather returns how long the input of a request needs to reach a site: what lies at
// from, and then each of the data from the site from which it takes least. What the
// site has already needs no time. It returns Forever for data that are nowhere, and
// stuck as the first of the data that would have to travel and may not.
func (l *Links) Gather(from, to string, bytes int64, data []Stored) (d batch.Duration, stuck *Stored) {
	d = l.Transfer(from, to, bytes)
	for i := range data {
		s := &data[i]
		if s.At(to) {
			continue
		}
		if s.Sticky && stuck == nil {
			stuck = s
		}
		d = plus(d, l.nearest(s, to))
	}
	return d, stuck
}

// nearest returns how long data need to a site from where it takes least.
func (l *Links) nearest(s *Stored, to string) batch.Duration {
	least := batch.Forever
	for _, from := range s.Sites {
		least = min(least, l.Transfer(from, to, s.Bytes))
	}
	return least
}

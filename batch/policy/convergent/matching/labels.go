package matching

// labels hold the best unmatched job for each machine.
type labels struct {
	label []int64 // its worth there, including the bonus; 0: none
	best  []int32 // its row, or Free
}

// stride is the number of rows between checks whether a later row can still raise a label.
const stride = 8

// search finds the labels of all machines. Rows come by falling top, so it ends when no label
// can rise.
func (s *Solver) search() {
	s.label = fill(s.label, len(s.on), 0)
	s.best = fill(s.best, len(s.on), Free)
	label := s.label
	for k, row := range s.order {
		if s.at[row] != Free {
			continue
		}
		if k%stride == 0 && s.labelled(s.top[row]+s.bonus) {
			return
		}
		r := &s.rows[row]
		base := r.Base + s.bonus
		for m, c := range r.Cells[:len(label)] {
			if v := c + base; v > label[m] && c > 0 {
				label[m], s.best[m] = v, row
			}
		}
	}
}

// labelled reports whether all labels are at least least.
func (s *Solver) labelled(least int64) bool {
	for _, l := range s.label {
		if l < least {
			return false
		}
	}
	return true
}

// taken finds new labels for the machines with a best job in a row that is now matched.
func (s *Solver) taken(taken int32) {
	for m, row := range s.best {
		if row == taken {
			s.relabel(int32(m))
		}
	}
}

func (s *Solver) relabel(m int32) {
	s.label[m], s.best[m] = 0, Free
	for _, row := range s.order {
		if s.top[row]+s.bonus <= s.label[m] {
			return
		}
		r := &s.rows[row]
		if c := r.Cells[m]; c > 0 && s.at[row] == Free {
			if v := c + r.Base + s.bonus; v > s.label[m] {
				s.label[m], s.best[m] = v, row
			}
		}
	}
}

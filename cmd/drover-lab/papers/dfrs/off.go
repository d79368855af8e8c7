package dfrs

import (
	_ "embed"
	"fmt"
	"regexp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

//go:embed why.yaml
var whyText []byte

// reasons are why rows and claims are not as in the paper. People write them.
type reasons struct {
	Claims map[string]string `yaml:"claims"`
	Rows   []rowReason       `yaml:"rows"`
}

// rowReason is the reason for rows: the first one that fits is taken.
type rowReason struct {
	Rows  string `yaml:"rows"` // a pattern for "set algorithm", whole
	Ours  string `yaml:"ours"` // lower or higher; either if empty
	Of    string `yaml:"of"`   // a pattern for avg, std, max; any if empty
	Why   string `yaml:"why"`  // in Markdown
	named *regexp.Regexp
	of    *regexp.Regexp
}

// readReasons reads reasons; each is to fit a claim or a row that there can be.
func readReasons(text []byte) (*reasons, error) {
	w := &reasons{}
	if err := papers.ReadReasons("why.yaml", text, w); err != nil {
		return nil, err
	}
	if err := papers.CheckReasons("why.yaml", w.Claims, papers.IDs(Claims())...); err != nil {
		return nil, err
	}
	for i := range w.Rows {
		if err := w.Rows[i].check(); err != nil {
			return nil, fmt.Errorf("why.yaml: %w", err)
		}
	}
	return w, nil
}

func (w *rowReason) check() (err error) {
	if w.named, err = regexp.Compile("^(?:" + w.Rows + ")$"); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if w.of, err = regexp.Compile("^(?:" + w.Of + ")$"); err != nil {
		return fmt.Errorf("of: %w", err)
	}
	if w.Ours != "" && w.Ours != "lower" && w.Ours != "higher" {
		return fmt.Errorf("ours: %q, accepted: lower, higher", w.Ours)
	}
	for _, p := range paperRows() {
		if w.named.MatchString(p.set + " " + p.algorithm) {
			return nil
		}
	}
	return fmt.Errorf("rows: %q fits no row of tables 2 and 5", w.Rows)
}

// Off is a number of the paper's tables 2 and 5 that ours is off by more than a
// factor of 2.
type Off struct {
	Set, Algorithm, Of string
	Ours, Paper        float64
	Why                string // empty: not accounted for
}

// offBy is the factor.
const offBy = 2

// paperRow is a row of table 2 or 5.
type paperRow struct {
	set, algorithm string
	stat           stat
}

// paperRows are all, with those that both tables have once.
func paperRows() []paperRow {
	var all []paperRow
	for i := range paperTable5 {
		all = append(all, paperRow{fractional.HPC2N, paperTable5[i].algorithm, paperTable5[i].stat(0)})
	}
	for k, set := range sets {
		for i := range paperTable2 {
			if set.id != fractional.HPC2N {
				all = append(all, paperRow{set.id, paperTable2[i].algorithm, paperTable2[i].stat(3 * k)})
			}
		}
	}
	return all
}

// off finds what is off, in the order of the paper's rows. Of a set that lacks instances
// means alone are compared: the greatest of a few is not that of many.
func (s *study) off(why *reasons) []Off {
	var all []Off
	for _, p := range paperRows() {
		ours, ok := s.at(p.set, p.algorithm, degradation)
		if !ok {
			continue
		}
		for k, v := range ours.three() {
			theirs := p.stat.three()[k]
			if v <= theirs*offBy && v >= theirs/offBy || k > 0 && !s.full(p.set) {
				continue
			}
			o := Off{Set: p.set, Algorithm: p.algorithm, Of: []string{"avg", "std", "max"}[k], Ours: v, Paper: theirs}
			o.Why = why.of(&o)
			all = append(all, o)
		}
	}
	return all
}

// full says whether there are rows of all instances of a set.
func (s *study) full(set string) bool {
	for i := range sets {
		if sets[i].id == set {
			return s.instances[setPart{set, whole}] >= sets[i].of
		}
	}
	return false
}

func (w *reasons) of(o *Off) string {
	ours := "lower"
	if o.Ours > o.Paper {
		ours = "higher"
	}
	for i := range w.Rows {
		r := &w.Rows[i]
		if r.named.MatchString(o.Set+" "+o.Algorithm) && (r.Ours == "" || r.Ours == ours) &&
			(r.Of == "" || r.of.MatchString(o.Of)) {
			return r.Why
		}
	}
	return ""
}

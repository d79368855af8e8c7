package papers

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

//go:embed dfrs/why.yaml
var dfrsWhyText []byte

// dfrsWhy says why rows and claims are not as in the paper: nobody can compute it.
type dfrsWhy struct {
	Claims map[string]string `yaml:"claims"`
	Rows   []dfrsRowWhy      `yaml:"rows"`
}

// dfrsRowWhy is the reason for rows: the first one that fits is taken.
type dfrsRowWhy struct {
	Rows  string `yaml:"rows"` // a pattern for "set algorithm", whole
	Ours  string `yaml:"ours"` // lower or higher; either if empty
	Of    string `yaml:"of"`   // a pattern for avg, std, max; any if empty
	Why   string `yaml:"why"`  // in Markdown
	named *regexp.Regexp
	of    *regexp.Regexp
}

// dfrsReasons reads reasons; each is to fit a claim or a row that there can be.
func dfrsReasons(text []byte) (*dfrsWhy, error) {
	w := &dfrsWhy{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(w); err != nil {
		return nil, fmt.Errorf("dfrs/why.yaml: %w", err)
	}
	known := map[string]bool{}
	for _, c := range DFRSClaims() {
		known[c.ID] = true
	}
	for id := range w.Claims {
		if !known[id] {
			return nil, fmt.Errorf("dfrs/why.yaml: %q is the ID of no claim", id)
		}
	}
	for i := range w.Rows {
		if err := w.Rows[i].check(); err != nil {
			return nil, fmt.Errorf("dfrs/why.yaml: %w", err)
		}
	}
	return w, nil
}

func (w *dfrsRowWhy) check() (err error) {
	if w.named, err = regexp.Compile("^(?:" + w.Rows + ")$"); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if w.of, err = regexp.Compile("^(?:" + w.Of + ")$"); err != nil {
		return fmt.Errorf("of: %w", err)
	}
	if w.Ours != "" && w.Ours != "lower" && w.Ours != "higher" {
		return fmt.Errorf("ours: %q, accepted: lower, higher", w.Ours)
	}
	for _, p := range dfrsPaperRows() {
		if w.named.MatchString(p.set + " " + p.algorithm) {
			return nil
		}
	}
	return fmt.Errorf("rows: %q fits no row of tables 2 and 5", w.Rows)
}

// DFRSOff is a number of the paper's tables 2 and 5 that ours is off by more than a
// factor of 2.
type DFRSOff struct {
	Set, Algorithm, Of string
	Ours, Paper        float64
	Why                string // empty: not accounted for
}

// offBy is the factor.
const offBy = 2

// dfrsPaperRow is a row of table 2 or 5.
type dfrsPaperRow struct {
	set, algorithm string
	stat           stat
}

// dfrsPaperRows are all, with those that both tables have once.
func dfrsPaperRows() []dfrsPaperRow {
	var all []dfrsPaperRow
	for i := range paperTable5 {
		all = append(all, dfrsPaperRow{fractional.HPC2N, paperTable5[i].algorithm, paperTable5[i].stat(0)})
	}
	for k, set := range dfrsSets {
		for i := range paperTable2 {
			if set.id != fractional.HPC2N {
				all = append(all, dfrsPaperRow{set.id, paperTable2[i].algorithm, paperTable2[i].stat(3 * k)})
			}
		}
	}
	return all
}

// off finds what is off, in the order of the paper's rows. Of a set that lacks instances
// means alone are compared: the greatest of a few is not that of many.
func (s *dfrsStudy) off(why *dfrsWhy) []DFRSOff {
	var all []DFRSOff
	for _, p := range dfrsPaperRows() {
		ours, ok := s.at(p.set, p.algorithm, degradation)
		if !ok {
			continue
		}
		for k, v := range ours.three() {
			theirs := p.stat.three()[k]
			if v <= theirs*offBy && v >= theirs/offBy || k > 0 && !s.full(p.set) {
				continue
			}
			o := DFRSOff{Set: p.set, Algorithm: p.algorithm, Of: []string{"avg", "std", "max"}[k], Ours: v, Paper: theirs}
			o.Why = why.of(&o)
			all = append(all, o)
		}
	}
	return all
}

// full says whether there are rows of all instances of a set.
func (s *dfrsStudy) full(set string) bool {
	for i := range dfrsSets {
		if dfrsSets[i].id == set {
			return s.instances[dfrsPart{set, whole}] >= dfrsSets[i].of
		}
	}
	return false
}

func (w *dfrsWhy) of(o *DFRSOff) string {
	ours := "lower"
	if o.Ours > o.Paper {
		ours = "higher"
	}
	for i := range w.Rows {
		r := &w.Rows[i]
		if r.named.MatchString(o.Set+" "+o.Algorithm) && (r.Ours == "" || r.Ours == ours) && (r.Of == "" || r.of.MatchString(o.Of)) {
			return r.Why
		}
	}
	return ""
}

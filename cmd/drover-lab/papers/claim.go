package papers

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Verdict is what the measurements make of a claim.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"
	Differs Verdict = "differs"
	Open    Verdict = "not measured" // rows are missing
)

// mark returns the verdict in Markdown, bold if the claim differs.
func (v Verdict) mark() string {
	if v == Differs {
		return "**" + string(v) + "**"
	}
	return string(v)
}

// Finding is the result of a claim's check.
type Finding struct {
	Measured string
	Verdict  Verdict
}

// NotMeasured is the finding where rows are missing.
var NotMeasured = Finding{"", Open}

// Found returns a finding, with what was measured as fmt.Sprintf formats it.
func Found(holds bool, format string, args ...any) Finding {
	f := Finding{fmt.Sprintf(format, args...), Differs}
	if holds {
		f.Verdict = Holds
	}
	return f
}

// Claim is a sentence of a paper about its results, in our words, with a check. S is what
// the paper's package makes of its rows.
type Claim[S any] struct {
	ID     string
	Of     string // the section, figure or table that has it
	Figure int    // the figure beside a section; 0: none
	Says   string
	Test   string // when it is taken to hold
	Check  func(S) Finding
}

// Result is a claim and what was measured.
type Result struct {
	ID       string  `json:"id"`
	Of       string  `json:"of"`
	Figure   int     `json:"figure,omitempty"`
	Says     string  `json:"says"`
	Test     string  `json:"holds_if"`
	Measured string  `json:"measured,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Other    Verdict `json:"other,omitempty"` // under the settings of Claims.Other
	Why      string  `json:"why,omitempty"`   // it differs; empty if it does not, or if the reason is unknown
}

// Check checks claims. why has the reasons for claims that differ, by ID.
func Check[S any](claims []Claim[S], study S, why map[string]string) []Result {
	var all []Result
	for i := range claims {
		c := &claims[i]
		f := c.Check(study)
		r := Result{
			ID: c.ID, Of: c.Of, Figure: c.Figure, Says: c.Says, Test: c.Test, Measured: f.Measured, Verdict: f.Verdict,
		}
		if f.Verdict == Differs {
			r.Why = why[c.ID]
		}
		all = append(all, r)
	}
	return all
}

// CountOf returns how many results have a verdict.
func CountOf(results []Result, v Verdict) int {
	n := 0
	for i := range results {
		if results[i].Verdict == v {
			n++
		}
	}
	return n
}

// Summary counts the verdicts, as "Of 7 claims 5 hold, 1 differ, and 1 were not measured".
func Summary(results []Result) string {
	text := fmt.Sprintf("Of %d claims %d hold, %d differ", len(results), CountOf(results, Holds),
		CountOf(results, Differs))
	if n := CountOf(results, Open); n > 0 {
		text += fmt.Sprintf(", and %d were not measured", n)
	}
	return text
}

// Claims is the block of a report that has a table of results, and why some differ.
type Claims struct {
	Of      string // the head of the column Result.Of
	Figures bool   // a column of Result.Figure
	Other   string // the head of a column of Result.Other; none if empty
	Results []Result
	// Unexplained leaves out why claims differ: the reasons explain the whole experiment, not
	// a part of it.
	Unexplained bool
}

func (c *Claims) markdown(b *strings.Builder, _ int, _ string) {
	columns := func(of, figure, claim, test, measured, verdict, other string) []string {
		line := []string{of}
		if c.Figures {
			line = append(line, figure)
		}
		line = append(line, claim, test, measured, verdict)
		if c.Other != "" {
			line = append(line, other)
		}
		return line
	}
	t := &Table{Head: columns(c.Of, "fig.", "claim", "holds if", "measured", "verdict", c.Other)}
	t.Words = len(t.Head)
	var why strings.Builder
	for i := range c.Results {
		r := &c.Results[i]
		figure := ""
		if r.Figure > 0 {
			figure = strconv.Itoa(r.Figure)
		}
		t.Add(columns(r.Of, figure, fmt.Sprintf("`%s` %s", r.ID, r.Says), r.Test, r.Measured, r.Verdict.mark(),
			r.Other.mark())...)
		if r.Verdict == Differs {
			reason := r.Why
			if reason == "" {
				reason = "not explained yet."
			}
			fmt.Fprintf(&why, "- `%s`: %s\n", r.ID, strings.TrimSpace(reason))
		}
	}
	fmt.Fprintf(b, "%s\n", t.Markdown())
	if why.Len() > 0 && !c.Unexplained {
		fmt.Fprintf(b, "Why claims differ:\n\n%s\n", why.String())
	}
}

// IDs returns the IDs of claims.
func IDs[S any](claims []Claim[S]) []string {
	var ids []string
	for i := range claims {
		ids = append(ids, claims[i].ID)
	}
	return ids
}

// ReadReasons reads a why-file, a YAML file with the reasons why claims differ, which
// people write. into is a pointer to a map or a struct; unknown keys are refused.
func ReadReasons(file string, text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// CheckReasons returns an error if a reason has the ID of no claim.
func CheckReasons(file string, why map[string]string, ids ...string) error {
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for id := range why {
		if !known[id] {
			return fmt.Errorf("%s: %q is the ID of no claim", file, id)
		}
	}
	return nil
}

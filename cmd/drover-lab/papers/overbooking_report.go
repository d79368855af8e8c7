package papers

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/sla"
)

// OverbookingSchema names the shape of the report about overbooking in JSON.
const OverbookingSchema = "drover.sim.repro-overbooking/1"

// The lines of a page between which the report stands.
const (
	OverbookingBegin = "<!-- begin: drover-lab repro overbooking -->\n"
	OverbookingEnd   = "<!-- end: drover-lab repro overbooking -->\n"
)

// Markdown returns the report with headings from a level on; folder is where its
// pictures are, seen from the page that it stands in, with a slash at the end.
func (r *OverbookingReport) Markdown(level int, folder string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n\n", r.About())
	for i := range r.sections {
		r.sections[i].markdown(b, level, folder)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// About says what was run.
func (r *OverbookingReport) About() string {
	var slacks []string
	for _, slack := range r.slacks {
		slacks = append(slacks, slackName(slack))
	}
	seeds := "1 seed"
	if r.seeds > 1 {
		seeds = fmt.Sprintf("%d seeds", r.seeds)
	}
	s := fmt.Sprintf("Runs: %d; logs: %s; %s; windows longer than the estimate by %s", len(r.rows), strings.Join(r.traces, ", "), seeds, strings.Join(slacks, ", "))
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

// Says returns all that was found, a section at a time.
func (r *OverbookingReport) Says() []string {
	var says []string
	for i := range r.sections {
		says = append(says, r.sections[i].says...)
	}
	return says
}

// Files draws the pictures and returns all files of the report.
func (r *OverbookingReport) Files() ([]File, error) {
	var rows bytes.Buffer
	if err := sla.WriteCSV(&rows, r.rows); err != nil {
		return nil, fmt.Errorf("rows.csv: %w", err)
	}
	return compose(r.sections, []File{{"rows.csv", rows.Bytes()}}, "# Overbooking: what it is worth\n\n"+r.Markdown(2, ""), r.index)
}

// index is report.json.
func (r *OverbookingReport) index(files []string) any {
	return struct {
		Schema string   `json:"schema"`
		About  string   `json:"about"`
		Says   []string `json:"says"`
		Files  []string `json:"files"`
	}{OverbookingSchema, r.About(), r.Says(), files}
}

// Write writes all files to a folder, which is made if it is not there. It returns
// their names.
func (r *OverbookingReport) Write(dir string) ([]string, error) { return write(dir, r.Files) }

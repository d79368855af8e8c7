package overbooking

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/overbooking/sla"
)

// Report says what overbooking is worth: the paper has no figures of its
// own (G. Birkenheuer, M. Hovestadt, O. Kao, K. Voss, "Overbooking in Planning Based
// Scheduling Systems").
type Report struct {
	papers.Report

	rows    []sla.Row
	cells   map[cell]*balance
	traces  []string
	slacks  []int
	ways    []string
	chances []string
	seeds   int
	remark  string
}

// cell is what the rows of all seeds have in common.
type cell struct {
	trace  string
	slack  int
	way    string
	maxPoF string
}

// balance is the mean of the seeds.
type balance struct {
	n int

	accepted, worth      float64 // parts of what was offered, in jobs and in worth
	all, useful          float64 // utilization
	overbooked           float64 // parts of the accepted, as those below
	lost, paused         float64
	late, outran, broken float64
	brokenWorth          float64 // part of what was accepted
	failed               float64 // part of the overbooked that was broken
	paid, penal          float64 // processor hours
}

// profit returns what is earned with a penalty.
func (o *balance) profit(penalty float64) float64 { return o.paid - penalty*o.penal }

// NewReport makes the report of rows. remark says what is special about them.
func NewReport(rows []sla.Row, remark string) (*Report, error) {
	r := &Report{rows: rows, cells: map[cell]*balance{}, remark: remark}
	seeds := map[uint64]bool{}
	for i := range rows {
		row := &rows[i]
		r.traces, r.ways, r.chances = papers.Including(r.traces, row.Trace), papers.Including(r.ways,
			row.Way), papers.Including(r.chances, row.MaxPoF)
		r.slacks = papers.Including(r.slacks, row.Slack)
		seeds[row.Seed] = true
		c := cell{row.Trace, row.Slack, row.Way, row.MaxPoF}
		if r.cells[c] == nil {
			r.cells[c] = &balance{}
		}
		r.cells[c].add(row)
	}
	r.seeds = len(seeds)
	for _, o := range r.cells {
		o.divide()
	}
	r.Title, r.Index = "Overbooking: what it is worth", r.index
	var out bytes.Buffer
	if err := sla.WriteCSV(&out, rows); err != nil {
		return nil, fmt.Errorf("rows.csv: %w", err)
	}
	r.More = []papers.File{{Name: "rows.csv", Data: out.Bytes()}}
	r.Add(papers.Text(r.About()))
	r.figures()
	return r, nil
}

func portion(n, of int) float64 { return quotient(float64(n), float64(of)) }

// quotient returns 0 where there is nothing.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (o *balance) add(row *sla.Row) {
	o.n++
	n := row.Accepted.Jobs
	all, useful := row.Utilization(row.Procs)
	broken := row.Shortened.Jobs + row.Late.Jobs
	o.accepted += portion(n, row.Offered.Jobs)
	o.worth += quotient(float64(row.Accepted.Worth), float64(row.Offered.Worth))
	o.all += all
	o.useful += useful
	o.overbooked += portion(row.Counts.Overbooked, n)
	o.lost += portion(row.Shortened.Jobs, n)
	o.paused += portion(row.Counts.Paused, n)
	o.late += portion(row.Late.Jobs, n)
	o.outran += portion(row.Outran.Jobs, n)
	o.broken += portion(broken, n)
	o.brokenWorth += quotient(row.Broken()*3600, float64(row.Accepted.Worth))
	o.failed += portion(broken, row.Counts.Overbooked)
	o.paid += row.Paid()
	o.penal += row.Broken()
}

func (o *balance) divide() {
	n := float64(o.n)
	for _, v := range []*float64{
		&o.accepted, &o.worth, &o.all, &o.useful, &o.overbooked, &o.lost, &o.paused, &o.late, &o.outran, &o.broken,
		&o.brokenWorth, &o.failed, &o.paid, &o.penal,
	} {
		*v /= n
	}
}

// gain returns how much more is earned than without overbooking, in parts of that.
func (r *Report) gain(c cell, penalty float64) (float64, bool) {
	o, without := r.cells[c], r.cells[cell{c.trace, c.slack, c.way, r.chances[0]}]
	if o == nil || without == nil || without.paid == 0 {
		return 0, false
	}
	return o.profit(penalty)/without.profit(penalty) - 1, true
}

// meanGain is that over all traces.
func (r *Report) meanGain(slack int, way, maxPoF string, penalty float64) (sum float64, ok bool) {
	for _, t := range r.traces {
		g, ok := r.gain(cell{t, slack, way, maxPoF}, penalty)
		if !ok {
			return 0, false
		}
		sum += g / float64(len(r.traces))
	}
	return sum, true
}

// middle is the slack that figures are of where nothing else is said; way is the way.
func (r *Report) middle() int { return r.slacks[len(r.slacks)/2] }
func (r *Report) way() string { return r.ways[0] }

// slackName names the tightness of windows.
func slackName(slack int) string {
	return "up to " + strconv.FormatFloat(float64(slack)/10, 'f', -1, 64) + "%"
}

func (r *Report) note(more string) string {
	note := "One seed"
	if r.seeds > 1 {
		note = fmt.Sprintf("Mean of %d seeds", r.seeds)
	}
	if r.remark != "" {
		note += "; " + r.remark
	}
	return note + "; " + more
}

func chanceOf(maxPoF string) float64 {
	v, err := strconv.ParseFloat(maxPoF, 64)
	if err != nil {
		return 0
	}
	return v
}

// Schema names the shape of the report about overbooking in JSON.
const Schema = "drover.sim.repro-overbooking/1"

// About says what was run.
func (r *Report) About() string {
	var slacks []string
	for _, slack := range r.slacks {
		slacks = append(slacks, slackName(slack))
	}
	seeds := "1 seed"
	if r.seeds > 1 {
		seeds = fmt.Sprintf("%d seeds", r.seeds)
	}
	s := fmt.Sprintf("Runs: %d; logs: %s; %s; windows longer than the estimate by %s", len(r.rows),
		strings.Join(r.traces, ", "), seeds, strings.Join(slacks, ", "))
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

// Says returns all that was found, a section at a time.
func (r *Report) Says() []string {
	var says []string
	for _, section := range r.Sections() {
		says = append(says, section.Says...)
	}
	return says
}

// index is report.json.
func (r *Report) index(files []string) any {
	return struct {
		Schema string   `json:"schema"`
		About  string   `json:"about"`
		Says   []string `json:"says"`
		Files  []string `json:"files"`
	}{Schema, r.About(), r.Says(), files}
}

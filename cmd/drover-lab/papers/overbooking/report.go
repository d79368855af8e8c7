package overbooking

import (
	"fmt"
	"strings"
)

// OverbookingSchema names the shape of the report about overbooking in JSON.
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
	s := fmt.Sprintf("Runs: %d; logs: %s; %s; windows longer than the estimate by %s", len(r.rows), strings.Join(r.traces, ", "), seeds, strings.Join(slacks, ", "))
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

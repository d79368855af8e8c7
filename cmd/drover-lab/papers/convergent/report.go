package convergent

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// ConvergentSchema names the shape of the report about convergent scheduling in JSON.
const Schema = "drover.sim.repro-convergent/1"

// misprints introduces the claims that hold if two lines of the paper are misprints.
const misprints = "The printed f1 of the Deadline heuristic is the least where a machine would miss the deadline, so such machines attract as much as the fastest; the paper's words say that " +
	"a high f1 means that the job would be late there. `avoid` does what the words say. EDF is said to order jobs \"in decreasing order w.r.t. their deadline\": `order=latest` does."

// About says what was run, and counts the verdicts.
func (r *Report) About() string {
	s := fmt.Sprintf("%s runs; seeds of the loads: %s of %d, of the knapsacks: %s of %d. %s; of %d targets %d are reached",
		papers.Grouped(papers.Count(r.runs)), r.study.seedsOf(farm.Loads), farm.Seeds, r.study.seedsOf(farm.Knapsacks), farm.Seeds,
		papers.Summary(r.Results), len(r.Targets), papers.CountOf(r.Targets, papers.Holds))
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

// index is report.json.
func (r *Report) index(files []string) any {
	return struct {
		Schema  string          `json:"schema"`
		About   string          `json:"about"`
		Claims  []papers.Result `json:"claims"`
		Meant   []papers.Result `json:"meant"`
		Targets []papers.Result `json:"targets"`
		Files   []string        `json:"files"`
	}{Schema, r.About(), r.Results, r.Meant, r.Targets, files}
}

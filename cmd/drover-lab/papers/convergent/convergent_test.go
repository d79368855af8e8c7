package convergent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// workedFarm is a row that was never run, and what it took.
func workedFarm(c farm.Case, late int) (farm.Row, farm.Cost) {
	r := farm.Row{
		Case: c, Ended: c.Jobs, Dated: 1000, Late: late, Slowdown: 1 +
			float64(late)/500, MachineUsage: 0.97, LicenseUsage: 0.6,
		Preemptions: 10 * late, Plans: 3000, Span: float64(c.Jobs * c.Arrival),
	}
	for i := range c.Jobs * c.Arrival / 250 {
		r.Workload = append(r.Workload, 50+late+i%3)
	}
	k := farm.Cost{Case: c, Seconds: 3.0001, First: 0.0001, Median: 0.0005, Longest: 0.02, Plans: 3001}
	return r, k
}

// lateOf is how many of 1,000 jobs are late where all is as the paper says.
func lateOf(algorithm string, arrival int) int {
	late := 1000 / arrival
	switch {
	case algorithm == "BF-rm"+withPreset:
		late -= 10
	case strings.Contains(algorithm, withPreset):
		late -= 30
	case !strings.HasPrefix(algorithm, "CS"):
		late += 60
	}
	return late
}

// farms are rows of two seeds that hold what the paper says; change alters them.
func farms(change func(*farm.Row, *farm.Cost)) (rows []farm.Row, costs []farm.Cost) {
	plan := farm.PaperPlan()
	plan.Seeds = 2
	for _, c := range plan.Cases() {
		r, k := workedFarm(c, 20+c.Seed)
		switch c.Set {
		case farm.Loads:
			r, k = workedFarm(c, lateOf(c.Algorithm, c.Arrival)+c.Seed)
			if c.Arrival >= 10 {
				r.Slowdown = 1.05
			}
			switch c.Algorithm {
			case "CS_ip", "CS_ninp":
				k.Seconds *= 2
			case "CS_nip":
				k.Seconds *= 4
			case "EDF anew=true", "EDF order=queued", "EDF order=latest":
				r.Late += 10
			}
			if slices.Contains(peersOfCS, c.Algorithm) {
				r.MachineUsage = 0.9
			}
		case farm.Knapsacks:
			near := 0.9 + float64(c.Ratio.Low)/1000
			r.Knapsacks = &farm.Comparison{
				Calls: 10 * c.Seed, Proven: 4, Value: near + 0.045, Worst: 0.9, Bound: 0.99,
				Exact: farm.Usage{Smallest: 0.5 + float64(c.Seed)/100, Mean: 0.9, Best: 1}, Greedy: farm.Usage{
					Smallest: 0.4,
					Mean:     0.9 * (near + 0.03), Best: 0.99,
				},
			}
			k.Greedy, k.Exact = 0.0002*float64(c.Seed), 0.01*float64(c.Seed)
		case farm.Growth:
			k.Median = float64(c.Jobs) * float64(c.Machines) / 1e8
			if c.Algorithm == "CS_nip" {
				k.Median *= 3
			}
		}
		if change != nil {
			change(&r, &k)
		}
		rows, costs = append(rows, r), append(costs, k)
	}
	return rows, costs
}

func madeConvergent(t *testing.T, change func(*farm.Row, *farm.Cost)) *Report {
	t.Helper()
	rows, costs := farms(change)
	r, err := NewReport(rows, costs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func verdictsOf(r *Report) map[string]papers.Result {
	all := map[string]papers.Result{}
	for _, c := range slices.Concat(r.Results, r.Meant, r.Targets) {
		all[c.ID] = c
	}
	return all
}

// Each claim holds of rows that are as the paper says, and differs where the one thing
// that it is about is otherwise.
func TestClaimsHoldAndDiffer(t *testing.T) {
	for id, c := range verdictsOf(madeConvergent(t, nil)) {
		if c.Verdict != papers.Holds {
			t.Errorf("%s: %s, want holds; %s", id, c.Verdict, c.Measured)
		}
	}
	at := func(algorithm string, arrival int, change func(*farm.Row)) func(*farm.Row, *farm.Cost) {
		return func(r *farm.Row, _ *farm.Cost) {
			if r.Set == farm.Loads && r.Algorithm == algorithm && r.Arrival == arrival {
				change(r)
			}
		}
	}
	late := func(by int) func(*farm.Row) { return func(r *farm.Row) { r.Late += by } }
	ratio40 := func(change func(*farm.Row, *farm.Cost)) func(*farm.Row, *farm.Cost) {
		return func(r *farm.Row, k *farm.Cost) {
			if r.Set == farm.Knapsacks && r.Ratio.Low == 40 {
				change(r, k)
			}
		}
	}
	seconds := func(algorithm string) func(*farm.Row, *farm.Cost) {
		return func(r *farm.Row, k *farm.Cost) {
			if r.Set == farm.Loads && r.Algorithm == algorithm {
				k.Seconds = 1
			}
		}
	}
	grown := func(algorithm string, machines, jobs int, median float64) func(*farm.Row, *farm.Cost) {
		return func(r *farm.Row, k *farm.Cost) {
			if r.Set == farm.Growth && r.Algorithm == algorithm && r.Machines == machines && r.Case.Jobs == jobs {
				k.Median = median
			}
		}
	}
	busy := func(usage float64) func(*farm.Row) { return func(r *farm.Row) { r.MachineUsage = usage } }
	tests := map[string][]func(*farm.Row, *farm.Cost){
		"knapsack-near":     {ratio40(func(r *farm.Row, _ *farm.Cost) { r.Knapsacks.Greedy.Mean = 0.75 })},
		"knapsack-time":     {ratio40(func(_ *farm.Row, k *farm.Cost) { k.Greedy *= 10 })},
		"knapsack-ratio":    {ratio40(func(r *farm.Row, _ *farm.Cost) { r.Knapsacks.Greedy.Mean = 0.9 })},
		"contention":        {at("CS_ip", 16, func(r *farm.Row) { r.Workload[20] = 9999 })},
		"steady":            {at("CS_ip", 20, func(r *farm.Row) { r.Workload[100] = 9999 })},
		"late-load":         {at("BF-rm", 20, late(900))},
		"late-satisfactory": {at("CS_ip", 12, late(200))},
		"late-backfilling":  {at("CS_ninp", 6, late(70)), at("BF-rm", 6, late(-70))},
		"late-edf":          {at("CS_ninp", 20, late(70)), at("EDF", 6, late(-70))},
		"late-incremental":  {at("CS_nip", 8, late(21)), at("CS_inp", 8, late(-21))},
		"slowdown":          {at("CS_inp", 10, func(r *farm.Row) { r.Slowdown = 1.2 })},
		"busy":              {at("CS_nip", 4, busy(0.94))},
		"busiest":           {at("EDF", 4, busy(0.99))},
		"time-preemption":   {seconds("CS_ip"), seconds("CS_nip")},
		"time-incremental":  {seconds("CS_nip"), seconds("CS_ninp")},
		"scalability":       {grown("CS_ip", 150, 10_000, 1), grown("CS_nip", 150, 1500, 0.0001)},

		"meant-satisfactory": {at("CS_ip"+meant, 12, late(100))},
		"meant-backfilling":  {at("CS_ninp"+meant, 6, late(100))},
		"meant-edf":          {at("EDF order=latest", 6, late(-100))},
		"meant-incremental":  {at("CS_nip"+meant, 8, late(21))},

		"fewer-late":              {at("CS_ip"+withPreset, 4, late(100)), at("EDF", 20, late(-95))},
		"fewer-late-strong":       {at("EDF anew=true", 4, late(-105))},
		"fewer-late-resident":     {at("CS_ninp"+withPreset, 4, late(100))},
		"late-incremental-preset": {at("CS_nip"+withPreset, 4, late(21))},
		"knapsack-value": {
			ratio40(func(r *farm.Row, _ *farm.Cost) { r.Knapsacks.Value = 0.5 }),
			ratio40(func(_ *farm.Row, k *farm.Cost) { k.Greedy *= 10 }),
		},
		"plan-150":  {grown("CS_ip", 150, 1500, 0.0051)},
		"plan-1000": {grown("CS_ip", 1000, 10_000, 0.251)},
	}
	for _, c := range slices.Concat(Claims(), meantClaims, targets) {
		if len(tests[c.ID]) == 0 {
			t.Errorf("%s: nothing that it differs of", c.ID)
		}
		for i, change := range tests[c.ID] {
			if got := verdictsOf(madeConvergent(t, change))[c.ID]; got.Verdict != papers.Differs {
				t.Errorf("%s, change %d: %s, want differs; %s", c.ID, i, got.Verdict, got.Measured)
			}
		}
	}
}

// What is taken for the paper's words about table 1 is such that its own numbers hold it.
func TestThePapersOwnTable1HoldsWhatItSays(t *testing.T) {
	s := &study{cells: map[key]*farmCell{}}
	for _, p := range paperTable1 {
		k := key{set: farm.Knapsacks, algorithm: "CS_ip", ratio: p.ratio, reading: farm.Percent}
		s.cells[k] = &farmCell{
			rows: []*farm.Row{{Knapsacks: &farm.Comparison{
				Calls: 1, Exact: farm.Usage{
					Smallest: p.exact.smallest, Mean: p.exact.mean,
					Best: p.exact.best,
				}, Greedy: farm.Usage{Smallest: p.greedy.smallest, Mean: p.greedy.mean, Best: p.greedy.best},
			}}},
			costs: []*farm.Cost{{Exact: p.exact.time / 1000, Greedy: p.greedy.time / 1000}},
		}
	}
	for _, c := range knapsackClaims {
		if f := c.Check(s); f.Verdict != papers.Holds {
			t.Errorf("%s: %s", c.ID, f.Measured)
		}
	}
}

// Algorithms are compared on the seeds that both have: others would show which had the
// easier ones.
func TestAlgorithmsAreComparedOnTheSeedsThatBothHave(t *testing.T) {
	rows, costs := farms(nil)
	kept := 0
	for i := range rows {
		if rows[i].Set == farm.Loads && rows[i].Algorithm == "EDF" && rows[i].Seed == 1 {
			continue
		}
		if rows[i].Set == farm.Loads && strings.HasPrefix(rows[i].Algorithm, "CS") && rows[i].Seed == 1 {
			rows[i].Late = 999
		}
		rows[kept], costs[kept] = rows[i], costs[i]
		kept++
	}
	r, err := NewReport(rows[:kept], costs[:kept], Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := verdictsOf(r)
	if c := all["late-edf"]; c.Verdict != papers.Holds {
		t.Errorf("late-edf: %s; %s", c.Verdict, c.Measured)
	}
	if c := all["late-backfilling"]; c.Verdict != papers.Differs {
		t.Errorf("late-backfilling: %s; %s", c.Verdict, c.Measured)
	}
	if page := r.Markdown(2, ""); !strings.Contains(page, "seeds of the loads: 1 to 2 of 20") ||
		!strings.Contains(page, "| EDF | 31.2 | 22.8 |") {
		t.Error("the page does not say of how many seeds it is")
	}
}

func TestNoRowsMakeAReport(t *testing.T) {
	r, err := NewReport(nil, nil, Options{Remark: "nothing"})
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range verdictsOf(r) {
		if c.Verdict != papers.Open {
			t.Errorf("%s: %s of nothing", id, c.Verdict)
		}
	}
	if _, err := r.Files(); err != nil {
		t.Error(err)
	}
	if text := r.Markdown(2, ""); !strings.Contains(text, "Not measured.") ||
		!strings.Contains(text, "Not the whole: nothing.") {
		t.Error(text)
	}
}

func TestCostsOfOtherRowsAreRefused(t *testing.T) {
	rows, costs := farms(nil)
	if _, err := NewReport(rows, costs[1:], Options{}); err == nil ||
		!strings.Contains(err.Error(), "accepted: as many") {
		t.Error(err)
	}
	costs[3], costs[4] = costs[4], costs[3]
	if _, err := NewReport(rows, costs, Options{}); err == nil || !strings.Contains(err.Error(), "of two cases") {
		t.Error(err)
	}
}

// Rows of a quick plan are of longer times between submissions; they stand at the
// paper's.
func TestAQuickPlanIsReportedAtThePapersLoads(t *testing.T) {
	rows, costs := farms(func(r *farm.Row, k *farm.Cost) {
		if r.Set != farm.Growth {
			r.Arrival *= quickPart
			k.Arrival *= quickPart
		}
	})
	r, err := NewReport(rows, costs, Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := verdictsOf(r)["late-edf"]; c.Verdict != papers.Holds {
		t.Errorf("%s; %s", c.Verdict, c.Measured)
	}
}

func TestReasonsWithoutAClaimAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"claims: {nonsense: x}": `"nonsense" is the ID of no claim`,
		"other: 1":              "field other not found",
	} {
		if _, err := readReasons([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestTheReportMatchesTheGoldenFiles(t *testing.T) {
	files, err := madeConvergent(t, nil).Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md", "table-1.csv", "figure-4.svg", "figure-8.svg"} {
		k := slices.IndexFunc(files, func(f papers.File) bool { return f.Name == name })
		if k < 0 {
			t.Errorf("there is no %s", name)
			continue
		}
		path := filepath.Join("testdata", name)
		if *paperstest.Rewrite {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, files[k].Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(files[k].Data, want) {
			t.Errorf("%s differs; look at it after -rewrite:\n%s", path,
				cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(files[k].Data), "\n")))
		}
	}
}

func TestTheReportNamesItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	names, err := madeConvergent(t, nil).Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var view struct {
		Schema          string
		Claims, Targets []struct{ ID, Verdict string }
		Files           []string
	}
	if err := json.Unmarshal(text, &view); err != nil {
		t.Fatal(err)
	}
	if view.Schema != Schema || len(view.Claims) != len(Claims()) || len(view.Targets) != len(targets) {
		t.Errorf("%s", text)
	}
	if diff := cmp.Diff(append(view.Files, "report.json"), names); diff != "" {
		t.Errorf("files (-in report.json +written):\n%s", diff)
	}
	for _, want := range []string{
		"table-1.csv", "table-1-distance.md", "figure-3.svg", "figure-4.png", "figure-4-beyond.svg", "figure-5.csv",
		"figure-6.svg", "figure-7.svg", "figure-8.csv", "licenses.svg", "preemptions.md", "deadlines.csv",
		"bandwidth.csv", "report.md",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestClaimIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(Claims(), meantClaims, targets) {
		if seen[c.ID] || c.Says == "" || c.Test == "" || c.Of == "" {
			t.Errorf("%+v", c.ID)
		}
		seen[c.ID] = true
	}
}

package reallocation

import (
	"fmt"
	"strings"
	"testing"
)

// outcome is what a made-up experiment comes to: shares, and seconds.
type outcome struct {
	impacted, moves, early, relative float64
	all                              float64 // response of all jobs, relative
	later                            int
}

const (
	madeUpJobs = 10_000
	headLine   = "scenario,homogeneous,dedicated,tuning,seed,algorithm,heuristic,window,period_s,threshold_s," +
		"patience,jobs,grid_jobs,impacted,impacted_share,reallocations,reallocations_share,early," +
		"early_share,relative_response,response_mean,response_reference,wait_mean,bounded_slowdown_mean," +
		"bounded_slowdown_reference,killed,rounds,questions,estimates,later,kept,put_back_later_most," +
		"bytes_moved\n"
)

// goodLine is an experiment as a campaign writes it.
const goodLine = "pwa,false,true,binary,1,regular,mct,20,3600,60,off," +
	"9,8,4,0.5,2,0.25,3,0.75,0.9,450,500,1,2,4,0,24,48,96,0,0,0,0\n"

// line writes an experiment as a campaign does.
func line(k Key, o outcome) string {
	text := func(s, other string) string {
		if s == anything || s == "" {
			return other
		}
		return s
	}
	moved := int(o.impacted*madeUpJobs + 0.5)
	relative := ""
	if moved > 0 {
		relative = fmt.Sprint(o.relative)
	}
	w := k.Way
	return fmt.Sprintf(
		"%s,%v,%v,%s,%d,%s,%s,%s,%s,%s,%s,%d,%d,%d,,%d,,%d,,%s,%v,1000,0,%v,20,0,100,50,40000,0,0,%d,0\n",
		k.Scenario, k.Homogeneous, k.Dedicated, k.Tuning, k.Seed, w.Algorithm, w.Heuristic, text(w.Window,
			"20"), w.Period, text(w.Threshold, "60"), text(w.Patience, "off"),
		madeUpJobs, madeUpJobs, moved, int(o.moves*madeUpJobs+0.5), int(o.early*float64(moved)+0.5), relative,
		1000*o.all, 20*o.all, o.later)
}

// world makes rows of a plan.
func world(t *testing.T, p Plan, of func(Key) outcome, extra ...Key) *Rows {
	t.Helper()
	text := strings.Builder{}
	text.WriteString(headLine)
	for _, k := range append(p.experiments(), extra...) {
		text.WriteString(line(k, of(k)))
	}
	return rowsOf(t, text.String())
}

func rowsOf(t *testing.T, text string) *Rows {
	t.Helper()
	r := &Rows{}
	if err := r.Read(strings.NewReader(text), "results.csv"); err != nil {
		t.Fatal(err)
	}
	return r
}

// onOneSpeed returns the experiments of a plan on homogeneous sites.
func onOneSpeed(p Plan) []Key {
	keys := p.experiments()
	for i := range keys {
		keys[i].Homogeneous = true
	}
	return keys
}

// asThePaperSays is a world in which every claim holds.
func asThePaperSays(k Key) outcome {
	name := coupleOf(k.Way)
	at := func(scenario string, seed uint64) bool { return k.Scenario == scenario && k.Seed == seed }
	var o outcome
	if k.Dedicated {
		o = map[string]outcome{
			"MCT-reg":    {impacted: 0.50, moves: 0.05, early: 0.54, relative: 0.80},
			"MinMin-reg": {impacted: 0.51, moves: 0.05, early: 0.52, relative: 0.95},
			"MCT-can":    {impacted: 0.60, moves: 0.06, early: 0.58, relative: 0.70},
			"MinMin-can": {impacted: 0.62, moves: 0.06, early: 0.56, relative: 0.72},
		}[name]
		isRegular := k.Way.Algorithm == regular
		switch {
		case at("m3", 1) && name == "MinMin-can":
			o.impacted = 0.99
		case at("pwa", 1) && name == "MCT-can":
			o.moves = 0.5
		case at("pwa", 2) && name == "MCT-can":
			o.early = 0.64
		case k.Scenario == "m4" && isRegular:
			o.early = 0.48
		case at("m5", 1) && isRegular:
			o.relative = map[string]float64{mct: 1.03, minmin: 1.2}[k.Way.Heuristic]
		case k.Scenario == "m2" && name == "MCT-can":
			o.relative = 0.81
		}
	} else {
		o = map[string]outcome{
			"MCT-reg":    {impacted: 0.30, moves: 0.005, early: 0.70, relative: 0.80},
			"MinMin-reg": {impacted: 0.30, moves: 0.005, early: 0.70, relative: 0.81},
			"MCT-can":    {impacted: 0.32, moves: 0.008, early: 0.68, relative: 0.83},
			"MinMin-can": {impacted: 0.32, moves: 0.008, early: 0.68, relative: 0.83},
		}[name]
		switch {
		case k.Way.Algorithm == cancellation:
		case at("m3", 1) && name == "MinMin-reg":
			o.impacted, o.early = 0.97, 0.10
		case at("pwa", 1) && name == "MinMin-reg":
			o.early = 0.45
		case k.Seed == 3:
			o.relative += 0.1
		case at("m1", 4):
			o.relative = 0.45
		case at("m1", 5):
			o.relative = 1.3
		}
	}
	o.all, o.later = o.relative, 5
	if k.Homogeneous {
		o.relative -= 0.03
	}
	return o
}

// theOpposite is a world in which none holds.
func theOpposite(k Key) outcome {
	var o outcome
	if k.Dedicated {
		o = map[string]outcome{
			"MCT-reg":    {impacted: 0.97, moves: 0.2, early: 0.4, relative: 1.1},
			"MinMin-reg": {impacted: 0.10, moves: 0.2, early: 0.4, relative: 1.0},
			"MCT-can":    {impacted: 0.10, moves: 0.2, early: 0.39, relative: 1.2},
			"MinMin-can": {impacted: 0.10, moves: 0.2, early: 0.4, relative: 1.1},
		}[coupleOf(k.Way)]
	} else {
		o = map[string]outcome{
			"MCT-reg":    {impacted: 0.60, moves: 0.02, early: 0.4, relative: 1.0},
			"MinMin-reg": {impacted: 0.60, moves: 0.02, early: 0.4, relative: 0.9},
			"MCT-can":    {impacted: 0.20, moves: 0.02, early: 0.4, relative: 0.8},
			"MinMin-can": {impacted: 0.20, moves: 0.30, early: 0.4, relative: 0.7},
		}[coupleOf(k.Way)]
		if k.Way.Algorithm == cancellation {
			o.relative += 0.001 * float64(k.Seed)
		}
	}
	o.all, o.later = o.relative, 500
	if k.Homogeneous {
		o.relative += 0.03
	}
	return o
}

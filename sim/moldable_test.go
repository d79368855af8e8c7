package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim"
)

// One type, of which 80% are parallel, on a with 4 processors and b with 2 of twice
// the speed. Jobs 1 and 2 were traced on 4 processors with 100 s, which is 250 s on
// one: on 1, 2, 3, 4 they take 250, 150, 117, 100 s at a, and 125, 75 s at b.
//
// Job 1 goes to b, where it ends at 75 at the latest, and runs for half of that,
// which is 38 s. Job 2 would end at 150 there; at a it does at 101. It would run
// twice as long as it has said. Job 3 is sequential: 30 s at a after that, 15 s at b
// after 75, and moves up when job 1 has ended; it runs for 2/3 of them.
func TestMoldableShapesMatchHandCalculation(t *testing.T) {
	traces := map[string]string{"t.swf": rigid(1, 0, 50, 4, 100) + rigid(2, 1, 200, 4, 100) + rigid(3, 2, 20, 1, 30)}
	const sites = `mapping: mct
moldable: {types: [{parallel: 0.8, limit: 4, share: 1}]}
sites: [{name: a, trace: t.swf, procs: 4, policy: cbf}, {name: b, procs: 2, speed: 2, policy: cbf}]
`
	for overrun, want := range map[string]string{
		"kill":   "1@0-38b 2@1-101a! 3@38-48b",
		"extend": "1@0-38b 2@1-201a 3@38-48b",
	} {
		for _, tuning := range []string{"exhaustive", "binary"} {
			r := grid(t, "overrun: "+overrun+"\ntuning: "+tuning+"\n"+sites, traces)
			wantSchedule(t, r, want)
			for i, width := range []int32{2, 4, 1} {
				if r.Outcomes[i].Width != width {
					t.Errorf("job %d has %d processors, want %d", i+1, r.Outcomes[i].Width, width)
				}
			}
		}
	}
	// As local users' jobs they stay what and where they were.
	r := grid(t, "local: {share: 1}\n"+sites, traces)
	wantSchedule(t, r, "1@0-50a 2@50-150a! 3@150-170a")
	if g := r.Summary.Grid; g == nil || g.Jobs != 0 || r.Summary.Jobs != 3 {
		t.Errorf("of the grid: %+v", g)
	}
}

// Job 2 of the grid comes before jobs 3 and 4 of b's users, and ends there first.
func TestGridFiguresCountGridJobsOnly(t *testing.T) {
	traces := map[string]string{
		"a.swf": rigid(1, 0, 100, 2, 100) + rigid(2, 0, 50, 2, 50), "b.swf": rigid(3, 0, 100, 2, 100) + rigid(4, 1, 10,
			2, 10),
	}
	const sites = "mapping: mct\nsites: [{name: a, trace: a.swf, procs: 2, policy: cbf}, {name: b, trace: b.swf, " +
		"procs: 2, policy: cbf%s}]\n"
	r := grid(t, fmt.Sprintf(sites, ", local: true"), traces)
	wantSchedule(t, r, "1@0-100a 2@0-50b 3@50-150b 4@150-160b")
	if g := r.Summary.GridFigures(); g.Jobs != 2 || g.ResponseMean != 75 ||
		r.Summary.ResponseMean != (100+50+150+159)/4. {
		t.Errorf("of the grid %+v, of all %+v", g, r.Summary.Figures)
	}
	if r = grid(t, fmt.Sprintf(sites, ""), traces); r.Summary.Grid != nil ||
		r.Summary.GridFigures() != &r.Summary.Figures {
		t.Errorf("without local users: %+v", r.Summary.Grid)
	}
}

// The grid of TestJobsLeaveForASiteThatEmptiesEarly. The input of jobs 3 and 4 takes
// 320 s from a to b: at 100 the round finds that 3 could start there at 420, and 4
// after it. Neither move would bring the threshold, but what travels is known.
func TestMovedJobStartsAfterItsInputArrives(t *testing.T) {
	traces := map[string]string{
		"g.swf": rigid(1, 0, 1000, 4, 1000) + rigid(3, 10, 100, 4, 100) + rigid(4, 20, 100, 4, 100),
		"b.swf": rigid(2, 0, 90, 4, 1050) + rigid(5, 5, 300, 4, 300),
	}
	const sites = `mapping: mct
input: 318MB
sites: [{name: a, procs: 4, policy: cbf, trace: g.swf}, {name: b, procs: 4, policy: cbf, trace: b.swf, local: true}]
`
	for _, c := range []struct {
		network, want string
		bytes         int64
	}{
		{"network: {bandwidth: 1MB/s, latency: 2s}\n", "1@0-1000a 2@0-90b 5@90-390b 3@420-520b 4@520-620b", 636e6},
		{
			"network: {bandwidth: 1MB/s, links: [{from: a, to: b}, {from: b, to: a, latency: 9h}]}\n",
			"1@0-1000a 2@0-90b 5@90-390b 3@390-490b 4@490-590b", 636e6,
		},
		{"network: {bandwidth: 1kB/s}\n", "1@0-1000a 2@0-90b 5@90-390b 3@1000-1100a 4@1100-1200a", 0},
		{"", "1@0-1000a 2@0-90b 5@90-390b 3@1000-1100a 4@1100-1200a", 0},
	} {
		for _, algorithm := range []string{"regular", "all-cancellation"} {
			if algorithm != "regular" && c.network == "" {
				continue // it has no threshold
			}
			r := grid(t, c.network+"reallocation: {period: 100s, threshold: 2h, algorithm: "+algorithm+"}\n"+sites,
				traces)
			wantSchedule(t, r, c.want)
			if got := r.Summary.Reallocation.BytesMoved; got != c.bytes {
				t.Errorf("%s: %d bytes moved, want %d", c.network, got, c.bytes)
			}
		}
	}
}

// Input takes 100 s. Job 2 is mapped at 10 to the slow b, where it comes at 110 and
// would end at 1110, because c's local job 3 says that it takes until 1050. That one
// ends at 40, and the round at 50 moves job 2 to c, where its input comes by b, at 210.
func TestInputInTransitIsForwardedAfterItArrives(t *testing.T) {
	traces := map[string]string{
		"a.swf": rigid(1, 0, 5000, 4, 5000) + rigid(2, 10, 100, 4, 100), "c.swf": rigid(3, 0, 40, 4, 1050),
	}
	r := grid(t, `mapping: mct
input: 100MB
network: {bandwidth: 1MB/s}
reallocation: {period: 50s}
sites:
  - {name: a, procs: 4, policy: cbf, trace: a.swf}
  - {name: b, procs: 4, speed: 0.1, policy: cbf}
  - {name: c, procs: 4, policy: cbf, trace: c.swf, local: true}
`, traces)
	wantSchedule(t, r, "1@0-5000a 3@0-40c 2@210-310c")
}

// whole is a scenario of everything: two sites of moldable jobs, half of them
// local, with a network and rounds.
const whole = `version: 1
seed: 5
mapping: mct
moldable: {}
local: {share: 1/2}
input: 1GB
network: {bandwidth: 10MB/s}
reallocation: {algorithm: all-cancellation, heuristic: minmin, period: 30m}
sites:
  - {name: a, lublin: {jobs: 400, span: 4d, seed: 1, estimates: "uniform:5"}, procs: 32, policy: cbf}
  - {name: b, lublin: {jobs: 300, span: 4d, seed: 2, estimates: "uniform:5"}, procs: 48, speed: 1.2, policy: cbf}
`

func prepared(t testing.TB) *sim.Prepared {
	t.Helper()
	s, err := sim.ParseScenario(strings.NewReader(whole), "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(t.Context(), "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestJobsNeverStartBeforeTheirInputArrives(t *testing.T) {
	s, err := sim.ParseScenario(strings.NewReader(whole), "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), "s.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := 0
	for i, o := range r.Outcomes {
		j := &r.Workload.Jobs[i]
		if o.Site == j.Home {
			continue
		}
		if elsewhere++; j.Local || o.Start.Sub(j.Submit).Seconds() < 100 {
			t.Errorf("job %d: %+v %+v", j.ID, j, o)
		}
	}
	if f := r.Summary.Reallocation; elsewhere < 20 || f.Moves < 20 || f.BytesMoved != int64(f.Moves)*1e9 ||
		f.LaterMost == 0 {
		t.Errorf("a run that shows little: %d jobs elsewhere, %+v", elsewhere, f)
	}
}

// Experiments share what was prepared, at the same time and on any number of cores,
// and the same one is the same again.
func TestExperimentsOfOnePreparedScenarioAreTheSameEveryTime(t *testing.T) {
	p := prepared(t)
	variants := []sim.Variant{
		{Seed: 1},
		{Seed: 2},
		{Seed: 1, Local: sim.PaperLocal},
		{Seed: 1, Homogeneous: true},
		{Seed: 1, Reallocation: &sim.Reallocation{Period: "30m"}},
		{Seed: 1, Local: sim.PaperLocal, Reallocation: &sim.Reallocation{Algorithm: "all-cancellation", Period: "30m"}},
	}
	run := func(v sim.Variant) []byte {
		r, err := p.Run(context.Background(), v, nil)
		if err != nil {
			t.Error(err)
			return nil
		}
		summary, jobs := output(t, r)
		return append(summary, jobs...)
	}
	first := make([][]byte, len(variants))
	for i, v := range variants {
		first[i] = run(v)
		for k := range i {
			if bytes.Equal(first[k], first[i]) {
				t.Errorf("variants %d and %d are the same", k, i)
			}
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2} {
		runtime.GOMAXPROCS(cores)
		var all sync.WaitGroup
		for i, v := range variants {
			all.Go(func() {
				if !bytes.Equal(run(v), first[i]) {
					t.Errorf("on %d cores variant %d is another", cores, i)
				}
			})
		}
		all.Wait()
	}
}

// A scenario's own keys are its variant.
func TestAScenarioRunsItsOwnVariant(t *testing.T) {
	path := filepath.Join(files(t, map[string]string{"s.yaml": whole}), "s.yaml")
	s, err := sim.ReadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	v := s.Variant()
	if v.Seed != 5 || v.Local != (sim.Fraction{Num: 1, Den: 2}) || v.Homogeneous || v.Reallocation == nil {
		t.Errorf("%+v", v)
	}
	r, err := s.Run(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	same, err := prepared(t).Run(t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, a := output(t, r)
	_, b := output(t, same)
	if !bytes.Equal(a, b) {
		t.Error("it runs another")
	}
	v.Homogeneous = true
	even, err := prepared(t).Run(t.Context(), v, nil)
	if err != nil || even.Summary.Sites[1].Speed != "1" || s.Sites[1].Speed != "1.2" {
		t.Errorf("homogeneous: %+v, of the scenario %+v, %v", even.Summary.Sites[1], s.Sites[1], err)
	}
}

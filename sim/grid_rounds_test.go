package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/sim"
)

// Two like sites of 4 processors. Job 1 has a and says 1000 s, job 2 has b and says
// 1050 s: jobs 3 (until 1100) and 4 (until 1200) are mapped behind job 1, 4 because
// b would end it at 1150 but for job 5, which b's local users have put there before
// it. Job 2 ends at 90. Job 5 runs there from 90 to 390.
//
// At 100 the round asks b: 390 + 100 = 490 for job 3. It goes. Then job 4 moves up at
// a, to 1100; b would end it at 590: it goes, too. Without a round both wait for
// job 1, which ends at 1000.
//
// So it is where 3 is picked first: as the older one, for both are best at 490. Those
// heuristics that look for the greatest gain take 4 first, which gains 710 and not 610.
func TestJobsLeaveForASiteThatEmptiesEarly(t *testing.T) {
	traces := map[string]string{
		"g.swf": rigid(1, 0, 1000, 4, 1000) + rigid(3, 10, 100, 4, 100) + rigid(4, 20, 100, 4, 100),
		"b.swf": rigid(2, 0, 90, 4, 1050) + rigid(5, 5, 300, 4, 300),
	}
	const sites = `mapping: mct
sites: [{name: a, procs: 4, policy: cbf, trace: g.swf}, {name: b, procs: 4, policy: cbf, trace: b.swf, local: true}]
`
	without := grid(t, sites, traces)
	wantSchedule(t, without, "1@0-1000a 2@0-90b 5@90-390b 3@1000-1100a 4@1100-1200a")
	if without.Summary.Reallocation != nil {
		t.Errorf("without rounds: %+v", without.Summary.Reallocation)
	}
	const older, later = "1@0-1000a 2@0-90b 5@90-390b 3@390-490b 4@490-590b",
		"1@0-1000a 2@0-90b 5@90-390b 3@490-590b 4@390-490b"
	for _, c := range []struct{ text, want string }{
		{"{period: 100s}", older},
		{"{period: 100s, algorithm: all-cancellation}", older},
		{"{period: 100s, heuristic: minmin}", older},
		{"{period: 100s, algorithm: all-cancellation, heuristic: minmin}", older},
		{"{period: 100s, algorithm: all-cancellation, heuristic: maxmin, window: all}", older},
		{"{period: 100s, heuristic: sufferage}", later},
		{"{period: 100s, heuristic: maxgain}", later},
		{"{period: 100s, algorithm: all-cancellation, heuristic: maxrelgain}", later},
	} {
		r := grid(t, sites+"reallocation: "+c.text+"\n", traces)
		if got := schedule(r); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
		if f := r.Summary.Reallocation; f == nil || f.Moves != 2 || f.Moved != 2 || f.Rounds != 4 || f.Estimates == 0 {
			t.Errorf("%s: %+v", c.text, f)
		}
	}
}

// Local users' jobs stay, and the promises made to them are kept or bettered: job 2
// at a is local, is wide, and waits where job 3 of the grid is held before it.
func TestLocalJobsAreNotTouched(t *testing.T) {
	traces := map[string]string{"l.swf": rigid(1, 0, 500, 4, 500) + rigid(2, 1, 100, 4, 100)}
	for _, algorithm := range []string{"regular", "all-cancellation"} {
		r := grid(t, fmt.Sprintf(`mapping: mct
sites: [{name: a, procs: 4, policy: cbf, trace: l.swf, local: true}, {name: b, procs: 4, policy: cbf}]
reallocation: {algorithm: %s, period: 10s}
`, algorithm), traces)
		wantSchedule(t, r, "1@0-500a 2@500-600a")
		if f := r.Summary.Reallocation; f.Rounds != 0 || f.Moves != 0 {
			t.Errorf("%+v", f)
		}
	}
}

// One site. The long job 2 waits for job 1, which says 1000 s and runs as long. At
// each round a short job has come that MinMin puts before it. Without the guard the
// long one begins after all twenty of them; with it, it is held no more after four
// rounds, and moves up while the others are held.
func TestMinMinStarvesAJobWithoutTheGuard(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(rigid(1, 0, 1000, 1, 1000) + rigid(2, 1, 5000, 1, 5000))
	for i := range 20 {
		lines.WriteString(rigid(3+i, 10+50*i, 100, 1, 100))
	}
	for patience, want := range map[string]float64{"off": 3000, "3": 1000} {
		r := grid(t, `mapping: mct
sites: [{name: a, procs: 1, policy: cbf, trace: t.swf}]
reallocation: {algorithm: all-cancellation, heuristic: minmin, window: all, period: 50s, patience: `+patience+"}\n",
			map[string]string{"t.swf": lines.String()})
		if got := float64(r.Outcomes[1].Start) / 1e6; got != want {
			t.Errorf("patience %s: the long job starts at %v, want %v", patience, got, want)
		}
	}
}

func TestWrongReallocationListsWhatIsAccepted(t *testing.T) {
	for text, want := range map[string]string{
		"{heuristic: best}":      `reallocation.heuristic: "best", accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain`,
		"{algorithm: best}":      `reallocation.algorithm: "best", accepted: regular, all-cancellation`,
		"{window: 0}":            `reallocation.window: "0", accepted: at least 1, or all`,
		"{period: -1h}":          `reallocation.period: "-1h", accepted: a length of time with its unit, at least 1s`,
		"{threshold: -1s}":       `reallocation.threshold: "-1s", accepted: a length of time with its unit, at least 0s`,
		"{least_gain: 5}":        `reallocation.least_gain: "5", accepted: a length of time with its unit, at least 0s`,
		"{most_moves: -1}":       "reallocation.most_moves: -1, accepted: 0 (no bound) or more",
		"{most_moves_round: -1}": "reallocation.most_moves_round: -1, accepted: 0 (no bound) or more",
		"{patience: -1}":         `reallocation.patience: "-1", accepted: 0 or more, or off`,
		"{mapping: none}":        "reallocation.mapping: unknown key, accepted: algorithm,",
	} {
		_, err := sim.ParseScenario(
			strings.NewReader("version: 1\nmapping: mct\nsites: [{name: a, trace: t, procs: 1, policy: cbf}]\n"+
				"reallocation: "+text+"\n"), "s.yaml",
		)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := sim.ParseScenario(
		strings.NewReader("version: 1\nsites: [{name: a, trace: t, procs: 1, policy: cbf}]\nreallocation: {}\n"),
		"s.yaml",
	)
	if err == nil || !strings.Contains(err.Error(), "accepted: with mapping mct") {
		t.Errorf("without a mapping: %v", err)
	}
}

// TestEveryJobEndsOnceAndNoProcessorIsTakenTwice whatever is moved, and a run is
// the same again.
func TestEveryJobEndsOnceAndNoProcessorIsTakenTwice(t *testing.T) {
	dir := files(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom([]string{"cbf", "fcfs", "easy"}).Draw(rt, "policy")
		text := fmt.Sprintf(`version: 1
mapping: mct
sites:
  - {name: a, procs: 8, policy: %[1]s, trace: a.swf}
  - {name: b, procs: 5, speed: 1.3, policy: %[1]s, trace: b.swf, local: %[2]t}
  - {name: c, procs: 3, policy: cbf}
reallocation: {algorithm: %[3]s, heuristic: %[4]s, window: %[5]s, period: %[6]ds, threshold: %[7]ds, patience: %[8]s}
`, policy, rapid.Bool().Draw(rt, "local"), rapid.SampledFrom([]string{"regular", "all-cancellation"}).Draw(rt, "algorithm"),
			rapid.SampledFrom([]string{"mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain"}).Draw(rt,
				"heuristic"),
			rapid.SampledFrom([]string{"3", "all"}).Draw(rt, "window"), rapid.IntRange(1, 60).Draw(rt, "period"),
			rapid.IntRange(0, 20).Draw(rt, "threshold"), rapid.SampledFrom([]string{"off", "0", "1", "2", "3"}).Draw(rt,
				"patience"))
		for name, content := range map[string]string{
			"s.yaml": text, "a.swf": drawTrace(rt, 8), "b.swf": drawTrace(rt, 5),
		} {
			write(t, filepath.Join(dir, name), content)
		}
		run := func() *sim.Result {
			s, err := sim.ReadScenario(filepath.Join(dir, "s.yaml"))
			if err != nil {
				rt.Fatal(err)
			}
			s.Places = true // books every processor, and panics where one is taken
			r, err := s.Run(context.Background(), filepath.Join(dir, "s.yaml"), nil)
			if err != nil {
				rt.Fatal(err)
			}
			return r
		}
		r := run()
		for i, o := range r.Outcomes {
			j := &r.Workload.Jobs[i]
			if o.Start < j.Submit || o.End < o.Start || o.End.Sub(o.Start) > o.Walltime {
				rt.Fatalf("job %d: %+v", j.ID, o)
			}
			if j.Local && o.Site != j.Home {
				rt.Fatalf("local job %d runs at site %d", j.ID, o.Site)
			}
		}
		summary, jobs := output(t, r)
		summary2, jobs2 := output(t, run())
		if !bytes.Equal(summary, summary2) || !bytes.Equal(jobs, jobs2) {
			rt.Fatal("another run is not the same")
		}
	})
}

package sim_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim"
)

// At 0 SJF is better than FCFS, 2+4+8 against 2+6+8.
func TestSummaryReportsSelfTuning(t *testing.T) {
	s := sim.Single{Procs: 3, Policy: "dynp", Settings: batch.Settings{"metric": "ART"}}
	r := replay(t, s, rigid(1, 0, 2, 3, 2), rigid(2, 0, 4, 3, 4), rigid(3, 0, 2, 3, 2))
	wantSchedule(t, r, "1@0-2 2@4-8 3@2-4")
	wantTuning(t, r,
		`{"self_tuning_steps":2,"policy_switches":1,"policies":[{"name":"FCFS","switches":0,"started":0,"share":0},`+
			`{"name":"SJF","switches":1,"started":3,"share":1},{"name":"LJF","switches":0,"started":0,"share":0}],`+
			`"self_tuning_cases":[{"active":"FCFS","best":["SJF"],"steps":1},{"active":"SJF","best":["SJF"],"steps":1}]}`)
}

func TestGridSiteReportsSelfTuning(t *testing.T) {
	r := grid(t, "sites:\n  - {name: a, trace: a.swf, procs: 3, policy: dynp, settings: {metric: ART}}\n",
		map[string]string{"a.swf": rigid(1, 0, 2, 3, 2) + rigid(2, 0, 4, 3, 4) + rigid(3, 0, 2, 3, 2)})
	if got := r.Summary.Sites[0].SelfTuning; got == nil || got.Switches != 1 || got.Steps != 2 {
		t.Errorf("%+v", got)
	}
}

// wantTuning compares what the JSON of a summary has of it, at its top.
func wantTuning(t *testing.T, r *sim.Result, want string) {
	t.Helper()
	text, _ := output(t, r)
	pick := func(data []byte) map[string]any {
		var all map[string]any
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		some := map[string]any{}
		for _, key := range []string{"self_tuning_steps", "policy_switches", "policies", "self_tuning_cases"} {
			some[key] = all[key]
		}
		return some
	}
	if diff := cmp.Diff(pick([]byte(want)), pick(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKnownSlowdownsOfDynP compares with table 2 of Streit's paper, whose KTH trace is
// this one but for one job, and with an independent naive program.
func TestKnownSlowdownsOfDynP(t *testing.T) {
	path := trace(t, "KTH-SP2-1996-2.swf.gz")
	for _, c := range []struct {
		settings     batch.Settings
		paper, naive float64 // 0: not known
	}{
		{batch.Settings{"policies": "FCFS"}, 3.1015, 3.1013},
		{batch.Settings{"policies": "SJF"}, 2.5488, 2.5510},
		{batch.Settings{"policies": "LJF"}, 5.8118, 5.8416},
		{batch.Settings{"decider": "advanced"}, 0, 2.5236},
		{batch.Settings{"decider": "simple"}, 0, 2.5230},
		{batch.Settings{"decider": "preferred:SJF"}, 0, 2.5269},
		{batch.Settings{"decider": "advanced", "metric": "makespan"}, 0, 4.7310},
		{batch.Settings{"decider": "advanced", "list": "shared"}, 2.5754, 2.5761},
		{batch.Settings{"decider": "advanced", "list": "shared", "tuning": "half"}, 2.5812, 2.5798},
		{batch.Settings{"decider": "preferred:SJF", "list": "shared"}, 2.5578, 2.5696},
	} {
		s := sim.Single{Trace: path, Procs: 100, Policy: "dynp", Settings: c.settings}
		r, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got := r.Summary.SlowdownAreaWeighted
		t.Logf("%v: %.4f, the paper %.4f", c.settings, got, c.paper)
		if r.Summary.Jobs != 28_489 || math.Abs(got-c.naive) > 0.00005 {
			t.Errorf("%v: %d jobs, %.4f, want %.4f", c.settings, r.Summary.Jobs, got, c.naive)
		}
		if c.paper != 0 && math.Abs(got/c.paper-1) > 0.0055 {
			t.Errorf("%v: %.4f, the paper has %.4f", c.settings, got, c.paper)
		}
	}
}

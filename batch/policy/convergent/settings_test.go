package convergent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

func TestAlgorithmNamesFollowThePaper(t *testing.T) {
	for name, want := range map[string]string{
		"CS_ip": "CS_ip", "CSip": "CS_ip", "CS_i_p": "CS_ip", "cs-inp": "CS_inp", "CS_i_np": "CS_inp",
		"CS_ni_p": "CS_nip",
		"CSninp":  "CS_ninp", "BF-easy": "BF-easy", "BF_rm": "BF-rm", "bfunrm": "BF-unrm", "EDF": "EDF",
	} {
		if got, ok := convergent.ParseAlgorithm(name); !ok || got.String() != want {
			t.Errorf("%s is %v, %t", name, got, ok)
		}
	}
	for _, name := range []string{"", "CS", "CS_p", "EASY", "MCT"} {
		if got, ok := convergent.ParseAlgorithm(name); ok {
			t.Errorf("%q is %v", name, got)
		}
	}
}

func TestInvalidSettingsAreReportedTogether(t *testing.T) {
	for _, c := range []struct {
		set  batch.Settings
		keys []string
	}{
		{
			batch.Settings{"algorithm": "FCFS", "avoid": "perhaps", "colour": "red"},
			[]string{"algorithm", "avoid", "colour"},
		},
		{batch.Settings{"deadlineK": "0", "wait": "-1", "aging": "0.0000001"}, []string{"deadlineK", "wait", "aging"}},
		{batch.Settings{"deadlineMin": "11"}, []string{"deadlineMin"}},
		{batch.Settings{"deadlineMax": "0.05"}, []string{"deadlineMax"}},
		{batch.Settings{"agingUnit": "0s"}, []string{"agingUnit"}},
		{batch.Settings{"agingUnit": "5"}, []string{"agingUnit"}},
		{batch.Settings{"algorithm": "CS_nip", "matching": "imfs"}, []string{"matching"}},
		{batch.Settings{"algorithm": "CS_ip", "matching": "mfs"}, []string{"matching"}},
		{batch.Settings{"algorithm": "EDF", "matching": "mfs", "refill": "true"}, []string{"matching", "refill"}},
		{batch.Settings{"matching": "best"}, []string{"matching"}},
		{batch.Settings{"anew": "true"}, []string{"anew"}},
		{batch.Settings{"order": "latest"}, []string{"order"}},
		{batch.Settings{"algorithm": "EDF", "order": "first"}, []string{"order"}},
		{batch.Settings{"algorithm": "EDF", "order": "queued", "anew": "true"}, []string{"order"}},
		{batch.Settings{"preset": "best"}, []string{"preset"}},
	} {
		_, err := convergent.New(machines(100), c.set)
		errs := batch.SettingErrors(err)
		for _, key := range c.keys {
			found := false
			for _, e := range errs {
				found = found || e.Key == key && e.Accepted != "" && e.Policy == "convergent"
			}
			if !found {
				t.Errorf("%v: no error about %s in %v", c.set, key, err)
			}
		}
		if len(errs) != len(c.keys) {
			t.Errorf("%v: %d errors, want %d: %v", c.set, len(errs), len(c.keys), err)
		}
	}
}

func TestExplicitSettingsOverrideThePreset(t *testing.T) {
	for _, s := range []batch.Settings{
		{"preset": "deadlines"},
		{"preset": "deadlines", "algorithm": "EDF"},
		{"preset": "deadlines", "algorithm": "CS_ninp"},
		{"preset": "paper"},
		{"preset": "deadlines", "avoid": "false", "refill": "false", "matching": "imfs", "wait": "4"},
	} {
		if _, err := convergent.New(machines(100), s); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
	// With all settings of the preset reverted, the plan is the paper's.
	back := batch.Settings{
		"preset": "deadlines", "avoid": "false", "refill": "false", "matching": "imfs", "wait": "4", "aging": "0.02",
		"deadlineK": "1.3", "overhead": "8",
	}
	p, list := crowd(3, 8, 4, 60, 100)
	q, same := crowd(3, 8, 4, 60, 100)
	if diff := cmp.Diff(play(t, policy(t, p, nil), p, list).lines,
		play(t, policy(t, q, back), q, same).lines); diff != "" {
		t.Errorf("(-paper +taken back):\n%s", diff)
	}
}

func TestInvalidFarmsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*batch.Platform){
		"nodes[1].score: 0":  func(p *batch.Platform) { p.Nodes[1].Score = 0 },
		"nodes[0].score: -5": func(p *batch.Platform) { p.Nodes[0].Score = -5 },
		"licenses[1]": func(p *batch.Platform) {
			p.Licenses = []batch.LicensePool{{Name: "a", Copies: 1}, {Name: "a", Copies: 1}}
		},
		"licenses[0]": func(p *batch.Platform) { p.Licenses = []batch.LicensePool{{Name: "a", Copies: -1}} },
	} {
		p := machines(100, 200)
		change(&p)
		if got, err := convergent.New(p, nil); err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error about %q", got, err, want)
		}
	}
	p := batch.Processors(2) // no scores: all machines are equal
	wantLines(t, play(t, policy(t, p, nil), p, []arrival{{0, job(1, 10, 0)}}).lines, "0 start #1 m0", "10 end #1")
}

func TestEdgeRefusesJobsThatCanNeverRun(t *testing.T) {
	p := machines(100, 100)
	p.Nodes[0].Processors, p.Nodes[0].Memory, p.Nodes[1].Memory = 2, 100, 10
	p.Nodes[0].Licenses = []string{"bound"}
	p.Licenses = []batch.LicensePool{{Name: "cad", Copies: 2}}
	for name, c := range map[string]struct {
		change func(*batch.Job)
		want   string
	}{
		"fits": {func(j *batch.Job) {
			j.Licenses = []batch.License{{Name: "cad", Copies: 2}, {Name: "bound", Copies: 9}}
		}, ""},
		"unknown license": {func(j *batch.Job) {
			j.Licenses = []batch.License{{Name: "fem", Copies: 1}}
		}, "license fem"},
		"too many copies": {func(j *batch.Job) {
			j.Licenses = []batch.License{{Name: "cad", Copies: 3}}
		}, "license cad: 3"},
		"twice": {func(j *batch.Job) {
			j.Licenses = []batch.License{{Name: "cad", Copies: 2}, {Name: "cad", Copies: 1}}
		}, "license cad: 3"},
		"no copies": {
			func(j *batch.Job) { j.Licenses = []batch.License{{Name: "cad"}} }, "licenses[0].copies: 0",
		},
		"deadline too early": {func(j *batch.Job) { j.Deadline = 5 * second }, "deadline"},
		"too wide":           {func(j *batch.Job) { j.Shape.Width = 9 }, "cpus: 9"},
		"no width":           {func(j *batch.Job) { j.Shape.Width = 0 }, "width: 0"},
		"needs met by no single machine": {func(j *batch.Job) {
			j.Shape.Width = 4
			j.Licenses = []batch.License{{Name: "bound", Copies: 1}}
		}, "a machine"},
		"memory":             {func(j *batch.Job) { j.Shape.Width = 2; j.Memory = 51 }, "a machine"},
		"memory overflow":    {func(j *batch.Job) { j.Shape.Width = 2; j.Memory = 1 << 62 }, "a machine"},
		"negative reference": {func(j *batch.Job) { j.Reference = -1 }, "reference"},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(1, 10, 100)
			c.change(&j)
			err := validate(p, &j, 5*second)
			var own *roster.JobError
			var need *farm.NeedError
			switch {
			case c.want == "" && err == nil:
			case err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) ||
				!errors.As(err, &own) && !errors.As(err, &need):
				t.Fatalf("%v, want %q", err, c.want)
			}
			if c.want == "" || c.want == "deadline" || c.want == "reference" || c.want == "width: 0" ||
				strings.HasPrefix(c.want, "licenses[") {
				return
			}
			// If such jobs are submitted anyway, they do not hinder others.
			for _, a := range algorithms {
				q := policy(t, p, batch.Settings{"algorithm": a})
				other := job(2, 10, 0, "cad")
				var out batch.Decisions
				q.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: &j})
				q.Apply(0, &batch.Event{Kind: batch.Submit, Job: 2, Spec: &other})
				q.Decide(0, &out)
				if len(out.List) != 1 || out.List[0].Job != 2 {
					t.Errorf("%s: %v", a, out.List)
				}
			}
		})
	}
}

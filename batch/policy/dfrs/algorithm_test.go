package dfrs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

func TestTable5ListsItsAlgorithmsInOrder(t *testing.T) {
	all := dfrs.All()
	if len(all) != 116 {
		t.Fatalf("%d algorithms, want 116", len(all))
	}
	for i, want := range map[int]string{
		0: "Greedy*/opt=avg", 1: "Greedy*/opt=min", 2: "Greedy/per/opt=avg", 3: "Greedy/per/opt=avg/minft=300",
		6: "Greedy/per/opt=avg/minvt=600", 7: "Greedy/per/opt=min", 12: "Greedy*/per/opt=avg", 22: "GreedyP*/opt=avg",
		44: "GreedyPM*/opt=avg", 65: "GreedyPM*/per/opt=min/minvt=600", 66: "MCB8*/opt=avg",
		75: "MCB8*/opt=min/minvt=600",
		76: "MCB8/per/opt=avg", 95: "MCB8*/per/opt=min/minvt=600", 96: "/per/opt=avg", 105: "/per/opt=min/minvt=600",
		106: "/stretch-per/opt=avg", 111: "/stretch-per/opt=max", 115: "/stretch-per/opt=max/minvt=600",
	} {
		if got := all[i].String(); got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
	seen := map[dfrs.Algorithm]bool{}
	for _, a := range all {
		if got, err := dfrs.Parse(a.String()); err != nil || got != a || seen[a] {
			t.Errorf("%v: %+v, %v; twice: %t", a, got, err, seen[a])
		}
		seen[a] = true
	}
}

func TestParseAlgorithm(t *testing.T) {
	for name, want := range map[string]string{
		"GreedyPM*/per/opt=min/minvt=600":  "",
		"GreedyPM */per/opt=min/minvt=600": "GreedyPM*/per/opt=min/minvt=600",
		"MCB8 */per/minft=300":             "MCB8*/per/opt=min/minft=300", // the paper's example
		"/stretch-per":                     "/stretch-per/opt=max",
		"Greedy *":                         "Greedy*/opt=min",
		"EquiPartition":                    "",
		"/per/opt=avg/minvt=86400":         "",
	} {
		if want == "" {
			want = name
		}
		if a, err := dfrs.Parse(name); err != nil || a.String() != want {
			t.Errorf("%q is %v, %v, want %s", name, a, err, want)
		}
	}
	if got := dfrs.Recommended.String(); got != "GreedyPM*/per/opt=min/minvt=600" {
		t.Errorf("recommended: %s", got)
	}
}

func TestAnInvalidNameReportsItsFirstInvalidByte(t *testing.T) {
	for _, c := range []struct {
		name     string
		offset   int
		accepted string
	}{
		{"", 0, "Greedy"},
		{"greedy*", 0, "EquiPartition"},
		{"Greedy", 6, "*, /per"},
		{"Greedy/", 6, "*, /per"},
		{"GreedyX*/per", 6, "*, /per"},
		{"GreedyP*/perhaps", 8, "/per, /opt=, the end"},
		{"MCB8*/pe", 5, "/per, /opt=, /minft=, /minvt=, the end"},
		{"MCB8*/per/op", 9, "/opt=, /minft=, /minvt=, the end"},
		{"Greedy*/stretch-per", 7, "opt="},
		{"Greedy/stretch-per", 6, "*, /per"},
		{"*/per", 0, "/stretch-per"},
		{"/perhaps", 0, "next /"},
		{"/per/opt=max", 9, "max is for /stretch-per"},
		{"/stretch-per/opt=min", 17, "no yields"},
		{"Greedy*/opt=minimum", 12, "avg, min"},
		{"Greedy*/opt=min/minvt=600", 15, "the end (minft and minvt bound what MCB8 may move"},
		{"Greedy*/minvt=600", 7, "MCB8"},
		{"MCB8*/opt=min/minvt=", 20, "whole seconds"},
		{"MCB8*/opt=min/minvt=0", 20, "whole seconds"},
		{"MCB8*/opt=min/minvt=060", 20, "whole seconds"},
		{"MCB8*/opt=min/minvt=600s", 23, "the end"},
		{"MCB8*/opt=min/minvt=99999999999", 20, "whole seconds"},
		{"MCB8*/opt=min/minvt=600/minft=300", 23, "the end"},
		{"MCB8*/minvt=600/opt=min", 15, "the end"},
		{"MCB8*/opt=min/opt=min", 13, "minft="},
		{"EquiPartition/per", 0, "EquiPartition"},
	} {
		_, err := dfrs.Parse(c.name)
		var name *dfrs.NameError
		if !errors.As(err, &name) || name.Offset != c.offset || !strings.Contains(name.Accepted, c.accepted) {
			t.Errorf("%q: %v, want one at %d with %q", c.name, err, c.offset, c.accepted)
		}
	}
	_, err := dfrs.Parse("GreedyX*/per")
	if got, want := err.Error(),
		`algorithm "GreedyX*/per" is invalid from byte 6 on, "X*/per", accepted there: *, /per`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, a := range dfrs.All() {
		f.Add(a.String())
	}
	f.Add("MCB8 */per/minft=300")
	f.Add("EquiPartition")
	f.Fuzz(func(t *testing.T, name string) {
		a, err := dfrs.Parse(name)
		var wrong *dfrs.NameError
		if errors.As(err, &wrong) {
			if wrong.Offset < 0 || wrong.Offset > len(name) || wrong.Accepted == "" || wrong.Error() == "" {
				t.Fatalf("%q: %+v", name, wrong)
			}
			return
		}
		got := a.String()
		if strings.Contains(name, "opt=") && got != strings.Replace(name, " *", "*", 1) {
			t.Fatalf("%q prints as %q", name, got)
		}
		if again, err := dfrs.Parse(got); err != nil || again != a {
			t.Fatalf("%q prints as %q, which is %+v, %v", name, got, again, err)
		}
	})
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	for key, values := range map[string][]string{
		"algorithm":  {"", "Greedy"},
		"period":     {"", "600", "0s", "-5s", "9000h", "1000000001ns"},
		"decay":      {"", "1ms"},
		"priorities": {"", "alice", "alice:0", "alice:17", ":3", "alice:2,alice:3", "alice:2,"},
		"match":      {"", "perhaps"},
		"minvt":      {"600"},
	} {
		for _, v := range values {
			_, err := dfrs.New(batch.Processors(1), batch.Settings{key: v})
			var setting *batch.SettingError
			if !errors.As(err, &setting) || setting.Key != key || setting.Policy != "dfrs" {
				t.Errorf("%s=%q: %v", key, v, err)
			}
		}
	}
	_, err := dfrs.New(batch.Processors(1), batch.Settings{"algorithm": "GreedyX"})
	if want := `policy dfrs: setting algorithm: "GreedyX", accepted: from byte 6 on, in the place of "X": *, /per`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, s := range []batch.Settings{
		{"algorithm": "GreedyP*/per/opt=avg", "decay": "1h"},
		{"algorithm": "EquiPartition", "decay": "1h"},
		{"algorithm": "GreedyP*/opt=min", "match": "true"},
	} {
		var setting *batch.SettingError
		if _, err := dfrs.New(batch.Processors(1), s); !errors.As(err, &setting) || !strings.Contains(setting.Accepted,
			"with "+s["algorithm"]) {
			t.Errorf("%v, which is valid: %v", s, err)
		}
	}
	for _, s := range []batch.Settings{{
		"period": "90s", "decay": "1h", "priorities": "alice:2,bob:16", "match": "true",
	}, nil} {
		if _, err := dfrs.New(batch.Processors(1), s); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func TestUnequalNodesAreRefused(t *testing.T) {
	for _, nodes := range [][]batch.Node{
		{{Processors: 1}, {Processors: 2}}, {{Processors: 1, Memory: 1}, {Processors: 1}}, {{Processors: 1 << 16}},
	} {
		if _, err := dfrs.New(batch.Platform{Nodes: nodes}, nil); err == nil {
			t.Errorf("%v are accepted", nodes)
		}
	}
}

func TestValidateNamesWhyAJobCanNeverRun(t *testing.T) {
	platform := cluster(2, 100)
	for _, c := range []struct {
		field string
		job   batch.Job
	}{
		{"", batch.Job{Shape: batch.Shape{Width: 4}, Memory: 50}},
		{"", batch.Job{Shape: batch.Shape{Width: 400}}},
		{"tasks", batch.Job{Shape: batch.Shape{Width: 5}, Memory: 50}},
		{"tasks", batch.Job{}},
		{"tasks", batch.Job{Shape: batch.Shape{Width: 2<<10 + 1}}},
		{"tasks", batch.Job{Shape: batch.Shape{Width: 1_000_000_000}}},
		{"memory", batch.Job{Shape: batch.Shape{Width: 1}, Memory: 101}},
		{"cpu", batch.Job{Shape: batch.Shape{Width: 1}, CPU: batch.One + 1}},
		{"cpu", batch.Job{Shape: batch.Shape{Width: 1}, CPU: -1}},
		{"groups[1].cpu", batch.Job{Groups: []batch.TaskGroup{{Tasks: 1, CPU: 1}, {Tasks: 1}}}},
		{
			"groups",
			batch.Job{Groups: []batch.TaskGroup{{Tasks: 2, CPU: 1, Memory: 60}, {Tasks: 1, CPU: 1, Memory: 50}}},
		},
	} {
		err := dfrs.Validate(platform, &c.job)
		var wrong *dfrs.JobError
		if got := errors.As(err, &wrong); got != (c.field != "") || got && wrong.Field != c.field {
			t.Errorf("%+v: %v, want one about %q", c.job, err, c.field)
		}
	}
}

// A job with so many tasks that each would get less than a unit of CPU waits forever, and does
// not hinder others.
func TestAJobWithFarTooManyTasksWaits(t *testing.T) {
	for _, name := range []string{"Greedy*", "GreedyPM*/per", "MCB8*", "EquiPartition", "/stretch-per"} {
		jobs := []arrival{one(1, 0, 1, 0, 5), one(2, 0, 1, 0, 5)}
		jobs[0].spec.Shape.Width = 1 << 30
		o := newObserved()
		p := policy(t, cluster(1, 0), batch.Settings{"algorithm": name, "period": "5s"})
		replay(p, o, engine.NewLedger(cluster(1, 0)), jobs)
		if _, began := o.begun[1]; began || len(o.ended) != 1 {
			t.Errorf("%s: begun %v, ended %v", name, o.begun, o.ended)
		}
	}
}

package dynp

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestInvalidSettingsNameTheFieldAndTheRange(t *testing.T) {
	for _, c := range []struct{ key, value, accepted string }{
		{"policies", "", "1 to 8 of FCFS, LAF, LJF, NJF, SAF, SJF, WJF, each once"},
		{"policies", "FCFS,sjf", "1 to 8 of"},
		{"policies", "FCFS,FCFS", "each once"},
		{"policies", "FCFS,SJF,LJF,SAF,LAF,NJF,WJF,FCFS,SJF", "1 to 8 of"},
		{"decider", "fair", "simple, advanced, or preferred: with one of FCFS, SJF, LJF"},
		{"decider", "preferred:", "preferred: with one of FCFS"},
		{"decider", "preferred:SAF", "preferred: with one of FCFS"},
		{"metric", "sld", "one of ART, ARTwA, ARTwW, SLD, SLDwA, SLDwW, makespan, or"},
		{"metric", "ART:20,SLD:70", "whole percents that add up to 100"},
		{"metric", "ART:20,SLD:90", "add up to 100"},
		{"metric", "ART:0,SLD:100", "add up to 100"},
		{"metric", "ART:20,ART:80", "add up to 100"},
		{"metric", "ART,SLD", "add up to 100"},
		{"metric", "ART:100", "one of"},
		{"metric", "ART:50.5,SLD:49.5", "whole percents"},
		{"tuning", "double", "full, half"},
		{"list", "no", "own, shared"},
		{"equal", "1.000001", "0 to 1, with at most six decimals"},
		{"equal", "-0.1", "0 to 1"},
		{"equal", "0.0000001", "at most six decimals"},
		{"equal", "1e-3", "0 to 1"},
		{"equal", ".", "0 to 1"},
		{"pause", "60", "a length of time with its unit"},
		{"pause", "-1s", "a length of time"},
		{"every", "1h", "decider, equal, list, metric, pause, policies, tuning"},
	} {
		_, err := parse(batch.Settings{c.key: c.value})
		var setting *batch.SettingError
		if !errors.As(err, &setting) || setting.Policy != "dynp" || setting.Key != c.key ||
			!strings.Contains(setting.Accepted, c.accepted) {
			t.Errorf("%s=%q: %v, want one that has %q", c.key, c.value, err, c.accepted)
		}
	}
	_, err := parse(batch.Settings{
		"policies": "FCFS,sjf", "decider": "preferred:SJF", "metric": "sld", "pause": "60", "every": "1h", "odd": "",
	})
	var keys []string
	for _, e := range batch.SettingErrors(err) {
		keys = append(keys, e.Key)
	}
	if diff := cmp.Diff([]string{"every", "odd", "policies", "metric", "pause"}, keys); diff != "" {
		t.Errorf("not all at once: %v%s", err, diff)
	}
	if _, err := parse(batch.Settings{"list": "shared", "policies": "SJF,LJF"}); err == nil {
		t.Error("one list is accepted although every policy reorders it")
	}
}

func TestSettingsAreParsed(t *testing.T) {
	c, err := parse(batch.Settings{
		"policies": "SAF,FCFS", "decider": "preferred:FCFS", "metric": "makespan:20,ARTwW:80", "tuning": "half",
		"list": "shared", "equal": "0.25", "pause": "1h",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"SAF", "FCFS"}, c.policies); diff != "" || c.decider != (decider{preferred, 1}) ||
		!c.half || !c.shared ||
		c.equal != 250_000 || c.pause != batch.Hour || len(c.objective) != 2 || c.objective[1].percent != 80 ||
		c.objective[1].metric != metrics["ARTwW"] {
		t.Errorf("%+v %s", c, diff)
	}
	if c, err = parse(nil); err != nil || len(c.orders) != 3 || c.decider.kind != advanced || c.half || c.shared ||
		c.equal != 0 || c.pause != 0 {
		t.Errorf("defaults: %+v, %v", c, err)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("policies", "FCFS,SJF", "metric", "ART:20,SLD:80")
	f.Add("decider", "preferred:LJF", "equal", "0.000001")
	f.Add("pause", "1h30m", "tuning", "half")
	f.Add("list", "shared", "policies", "FCFS")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		c, err := parse(batch.Settings{k1: v1, k2: v2})
		if err != nil {
			var setting *batch.SettingError
			if !errors.As(err, &setting) {
				t.Fatalf("%v is not a *batch.SettingError", err)
			}
			return
		}
		sum := uint64(0)
		for _, part := range c.objective {
			sum += part.percent
		}
		if len(c.policies) < 1 || len(c.policies) > MaxPolicies || len(c.orders) != len(c.policies) || sum != 100 ||
			c.equal > million || c.pause < 0 {
			t.Fatalf("%q=%q, %q=%q are taken for %+v", k1, v1, k2, v2, c)
		}
	})
}

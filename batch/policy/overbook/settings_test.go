package overbook_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

func TestSettingsOutOfRangeNameTheirFieldAndRange(t *testing.T) {
	for _, c := range []struct{ key, value, accepted string }{
		{"maxPoF", "1.01", "0 to 1"},
		{"maxPoF", "-0.1", "0 to 1"},
		{"maxPoF", "NaN", "0 to 1"},
		{"maxPoF", "13%", "0 to 1"},
		{"maxPoF", "", "0 to 1"},
		{"distribution", "normal", "empirical, uniform"},
		{"shorten", "none", "agreed, all"},
		{"when", "never", "always, needed"},
		{"samples", "0", "1..65536"},
		{"samples", "300", "1..256, as many as history keeps"},
		{"history", "65537", "1..65536"},
		{"round", "0s", "1us to 24h"},
		{"round", "60", "1us to 24h"},
		{"maxpof", "0.1", "maxPoF, distribution"},
	} {
		_, err := overbook.New(batch.Processors(1), batch.Settings{c.key: c.value})
		var setting *batch.SettingError
		if !errors.As(err, &setting) || setting.Key != c.key || !strings.Contains(setting.Accepted, c.accepted) ||
			!strings.Contains(err.Error(), c.key) {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
	}
	_, err := overbook.New(batch.Processors(1), batch.Settings{"round": "60", "odd": "1", "maxPoF": "2"})
	if all := batch.SettingErrors(err); len(all) != 3 || all[0].Key != "odd" || all[1].Key != "maxPoF" ||
		all[2].Key != "round" {
		t.Errorf("not all at once: %v", err)
	}
}

// Every setting is either refused with an error that names it, or gives a policy that plans.
func FuzzSettings(f *testing.F) {
	f.Add("maxPoF", "0.13", "distribution", "uniform")
	f.Add("samples", "1", "history", "7")
	f.Add("round", "1ns", "when", "needed")
	f.Add("shorten", "all", "round", "23h59m")
	f.Add("maxPoF", "1e-7", "maxPoF", "0x1p-2")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		p, err := overbook.New(batch.Processors(2), batch.Settings{k1: v1, k2: v2})
		if err != nil {
			var setting *batch.SettingError
			if !errors.As(err, &setting) || setting.Accepted == "" {
				t.Fatalf("%q=%q, %q=%q: %v", k1, v1, k2, v2, err)
			}
			return
		}
		p.(*overbook.Policy).Learn("u", "", 10, 3)
		spec := &batch.Job{Handle: 1, Shape: batch.Shape{Width: 2, Walltime: batch.Hour}, Owner: "u", Agreed: true}
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: spec})
		var out batch.Decisions
		p.Decide(0, &out)
		if len(out.List) != 1 {
			t.Fatalf("%q=%q, %q=%q: %v", k1, v1, k2, v2, out.List)
		}
	})
}

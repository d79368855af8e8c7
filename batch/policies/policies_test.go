package policies_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policies"
)

func TestEveryNameMakesAPolicyThatRefusesForeignSettings(t *testing.T) {
	for _, name := range policies.Names() {
		if p, err := policies.New(name, batch.Processors(4), nil); err != nil || p == nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := policies.New(name, batch.Processors(4), batch.Settings{"no-such-key": "1"})
		var setting *batch.SettingError
		if !errors.As(err, &setting) || setting.Key != "no-such-key" || setting.Policy != name {
			t.Errorf("%s with a foreign setting: %v", name, err)
		}
	}
}

func TestUnknownNamesListTheKnownOnes(t *testing.T) {
	_, err := policies.New("sjf", batch.Processors(4), nil)
	if got, want := err.Error(), `unknown policy "sjf", accepted: cbf, convergent, dfrs, dynp, easy, fcfs, overbook`; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

func TestPlatformsWithoutProcessorsAreRefused(t *testing.T) {
	for _, n := range []int32{0, -1, batch.MaxProcessors + 1} {
		p := batch.Platform{Nodes: []batch.Node{{Processors: n}}}
		if _, err := policies.New("fcfs", p, nil); err == nil {
			t.Errorf("%d processors are accepted", n)
		}
	}
}

func TestALiveSiteFollowsWhatItCanCarryOut(t *testing.T) {
	for _, name := range policies.LiveNames() {
		if err := policies.Live(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var simulated *policies.SimulatedError
	err := policies.Live("dfrs")
	if !errors.As(err, &simulated) || err.Error() != "policy dfrs: simulated only so far: live node pools cannot migrate or enforce shares yet" {
		t.Errorf("dfrs: %v", err)
	}
	if slices.Contains(policies.LiveNames(), "dfrs") || len(policies.LiveNames()) != len(policies.Names())-1 {
		t.Errorf("live: %v", policies.LiveNames())
	}
}

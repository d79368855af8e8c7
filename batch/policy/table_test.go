package policy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

func TestEveryPolicyRefusesUnknownSettings(t *testing.T) {
	for _, name := range policy.Names() {
		if p, err := policy.New(name, batch.Processors(4), nil); err != nil || p == nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := policy.New(name, batch.Processors(4), batch.Settings{"no-such-key": "1"})
		var setting *batch.SettingError
		if !errors.As(err, &setting) || setting.Key != "no-such-key" || setting.Policy != name {
			t.Errorf("%s with a foreign setting: %v", name, err)
		}
	}
}

func TestTheDocumentationListsEveryPolicy(t *testing.T) {
	for page, mark := range map[string]string{"operators.md": "| `%s` |", "simulation.md": "`%s`"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range policy.Names() {
			if row := fmt.Sprintf(mark, name); !strings.Contains(string(text), row) {
				t.Errorf("docs/%s has no %s", page, row)
			}
		}
	}
}

func TestUnknownNamesListTheKnownOnes(t *testing.T) {
	_, err := policy.New("sjf", batch.Processors(4), nil)
	if got, want := err.Error(),
		`unknown policy "sjf", accepted: cbf, convergent, dfrs, dynp, easy, fcfs, overbook`; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

func TestPlatformsWithoutProcessorsAreRefused(t *testing.T) {
	for _, n := range []int32{0, -1, batch.MaxProcessors + 1} {
		p := batch.Platform{Nodes: []batch.Node{{Processors: n}}}
		if _, err := policy.New("fcfs", p, nil); err == nil {
			t.Errorf("%d processors are accepted", n)
		}
	}
}

func TestJobsThatFitNoSharedNodeAreRefused(t *testing.T) {
	p := batch.Platform{Nodes: []batch.Node{{Processors: 1, Memory: 100}, {Processors: 1, Memory: 100}}}
	edge, err := policy.NewEdge("dfrs", p)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := policy.NewEdge("cbf", p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		width  int32
		memory int64
		field  string // "" if it fits
	}{{1, 100, ""}, {2, 100, ""}, {5, 0, ""}, {1, 101, policy.NeedNode}, {3, 100, policy.NeedWidth}} {
		spec := &batch.Job{Shape: batch.Shape{Width: c.width, Walltime: batch.Second}, Memory: c.memory}
		err := edge.Check(spec)
		var need *policy.NeedError
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.field != "" && (!errors.As(err, &need) || need.Field != c.field):
			t.Errorf("%+v: %v", c, err)
		}
		if err := whole.Check(spec); err != nil {
			t.Errorf("%+v with whole processors: %v", c, err)
		}
	}
}

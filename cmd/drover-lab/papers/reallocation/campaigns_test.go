package reallocation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// tooMuch says whether an experiment is left out on purpose: half a year of a queue
// that only grows, or that is gone through again and again.
func tooMuch(k Key) bool {
	asked := k.Way.Heuristic == mct || k.Way.Heuristic == minmin
	return k.Scenario == "pwa" && (k.Homogeneous || !asked)
}

// The questions' campaigns and the paper's make the rows of all questions.
func TestTheCampaignsHaveEveryExperimentOfTheQuestions(t *testing.T) {
	names, texts, err := Campaigns()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	there := map[Key]bool{}
	take := func(path string) *campaign.Campaign {
		c, err := campaign.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Experiments() {
			if !e.Reference {
				there[Key{
					Scenario: e.Key[0], Homogeneous: e.Homogeneous, Dedicated: e.Dedicated, Tuning: e.Tuning.String(),
					Seed: e.Seed,
					Way:  Way{e.Key[5], e.Key[6], e.Key[7], e.Key[8], e.Key[9], e.Key[10]}.meaning(),
				}] = true
			}
		}
		return c
	}
	paper := take("paper")
	for i, name := range names {
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, texts[i], 0o600); err != nil {
			t.Fatal(err)
		}
		if c := take(path); c.Name != name {
			t.Errorf("%s.yaml calls itself %s", name, c.Name)
		}
	}
	scenarios := make([]string, 0, len(paper.Scenarios))
	for _, s := range paper.Scenarios {
		scenarios = append(scenarios, s.Name)
	}
	lacking := 0
	for _, k := range append(Plan{scenarios, paper.Seeds, binary}.experiments(),
		openExperiments(Plan{scenarios, []uint64{1, 2, 3}, binary})...) {
		if !there[k] && !tooMuch(k) {
			if lacking++; lacking <= 10 {
				t.Errorf("no campaign has %v", k)
			}
		}
	}
	if got := (Plan{scenarios, paper.Seeds, binary}); len(got.experiments()) != 560 ||
		len(Paper.experiments()) != 560 ||
		got.Scenarios[6] != Paper.Scenarios[6] {
		t.Errorf("the paper's campaign has the plan %v", got)
	}
}

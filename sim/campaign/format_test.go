package campaign

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

func TestAFileIsReadOverTheDefaults(t *testing.T) {
	got := parsed(t, "version: 1\nname: n\nscenarios: [a]\nseeds: [7, 3]\n")
	want := &Campaign{
		Name: "n", Scenarios: []Scenario{{Name: "a", Text: []byte("text of a")}}, Seeds: []uint64{7, 3},
		Dedicated: []bool{true}, Homogeneous: []bool{false}, Tunings: []site.Tuning{site.Exhaustive},
		Algorithms: []reallocation.Algorithm{reallocation.Regular},
		Heuristics: []reallocation.Heuristic{reallocation.MCT},
		Windows:    []reallocation.Window{20}, Periods: []batch.Duration{batch.Hour},
		Thresholds: []batch.Duration{batch.Minute}, Patience: []int{3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = parsed(t, `version: 1
name: n
scenarios: [a, b.yaml]
seeds: 9..11
dedicated: [false, true]
homogeneous: [true]
tunings: [binary, exhaustive]
algorithms: [all-cancellation]
heuristics: [maxrelgain, mct]
windows: [all, 5]
periods: [90m, 1s]
thresholds: [0s, 1.5s]
patience: [off, 0]
`)
	want = &Campaign{
		Name: "n", Seeds: []uint64{9, 10, 11}, Dedicated: []bool{false, true}, Homogeneous: []bool{true},
		Tunings:    []site.Tuning{site.Binary, site.Exhaustive},
		Algorithms: []reallocation.Algorithm{reallocation.AllCancellation},
		Heuristics: []reallocation.Heuristic{reallocation.MaxRelGain, reallocation.MCT},
		Windows:    []reallocation.Window{reallocation.All, 5}, Periods: []batch.Duration{
			90 * batch.Minute, batch.Second,
		},
		Thresholds: []batch.Duration{0, 1500 * batch.Millisecond}, Patience: []int{reallocation.Starve, 0},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Campaign{}, "Scenarios")); d != "" {
		t.Error(d)
	}
}

func TestProblemsAreReportedWithLineAndKey(t *testing.T) {
	const rest = "version: 1\nname: n\nscenarios: [a]\nseeds: 1..2\n"
	for text, want := range map[string]string{
		"name: n\nscenarios: [a]\nseeds: [1]": `version: "0", accepted: 1`,
		"version: 1\nscenarios: [a]\n" +
			"seeds: [1]": `name: "", accepted: 1 to 64 letters, digits, - and _`,
		"version: 1\nname: a/b\nscenarios: [a]\n" +
			"seeds: [1]": `line 2: name: "a/b", accepted: 1 to 64 letters, digits, - and _`,
		"version: 1\nname: n\nseeds: [1]":     `scenarios: "0 values", accepted: 1 to 10000 values`,
		"version: 1\nname: n\nscenarios: [a]": `seeds: "", accepted: 1..10, or a list of whole numbers from 0 on, as [1, 2, 5]`,
		"version: 1\nname: n\nscenarios: [a]\n" +
			"seeds: 3..1": `line 4: seeds: "3..1", accepted: 1..10, or a list of whole numbers from 0 on, as [1, 2, 5]`,
		"version: 1\nname: n\nscenarios: [a]\n" +
			"seeds: {a: b}": `line 4: seeds: "", accepted: 1..10, or a list of whole numbers from 0 on, as [1, 2, 5]`,
		"version: 1\nname: n\nscenarios: [a]\n" +
			"seeds: 0..18446744073709551615": `line 4: seeds: "0..18446744073709551615", accepted: at most 10000 seeds`,
		"version: 1\nname: n\nscenarios: [a]\nseeds:\n- 1\n" +
			"- -1": `line 6: seeds[1]: "-1", accepted: a whole number from 0 on`,
		"version: 1\nname: n\nscenarios: [a]\nseeds: [1, 2, 1]": `line 4: seeds[2]: 1: given twice, accepted: once`,
		rest + "dedicated: [maybe]":                             `line 5: dedicated[0]: "maybe", accepted: true, false`,
		rest + "homogeneous: [true, " +
			"true]": `line 5: homogeneous[1]: true: given twice, accepted: once`,
		rest + "algorithms: [regular, " +
			"cancel]": `line 5: algorithms[1]: "cancel", accepted: regular, all-cancellation`,
		rest + "heuristics:\n- mct\n- " +
			"minimin": `line 7: heuristics[1]: "minimin", accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain`,
		rest +
			"heuristics: ['']": `line 5: heuristics[0]: "", accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain`,
		rest + "heuristics: []":     `line 5: heuristics: "0 values", accepted: 1 to 10000 values`,
		rest + "windows: [20, 0]":   `line 5: windows[1]: "0", accepted: at least 1, or all`,
		rest + "periods: [1h, 60m]": `line 5: periods[1]: 1h0m0s: given twice, accepted: once`,
		rest +
			"periods: [-1h]": `line 5: periods[0]: "-1h", accepted: a length of time with its unit, as 90s, 1h30m or 1d, at least 1s`,
		rest +
			"periods: [3600]": `line 5: periods[0]: "3600", accepted: a length of time with its unit, as 90s, 1h30m or 1d, at least 1s`,
		rest +
			"thresholds: [-1s]": `line 5: thresholds[0]: "-1s", accepted: a length of time with its unit, as 90s, 1h30m or 1d, at least 0s`,
		rest + "patience: [-1]": `line 5: patience[0]: "-1", accepted: 0 or more, or off`,
		rest +
			"treshold: [60s]": `line 5: treshold: unknown key, accepted: version, name, scenarios, seeds, dedicated, homogeneous, tunings, algorithms, heuristics, windows, periods, thresholds, patience`,
		rest + "heuristics: [x]\nalgorithms: [y]": "line 5: heuristics[0]: \"x\", accepted: mct, minmin, maxmin, " +
			"sufferage, maxgain, maxrelgain\nline 6: algorithms[0]: \"y\", accepted: regular, all-cancellation",
		strings.Replace(rest, "1..2", "1..9999",
			1) + "dedicated: [true, false]\n" +
			"periods: [1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 10s, 11s, 12s, 13s]": "line 1: too many experiments, " +
			"accepted: at most 250000",
	} {
		p := parser{find: anyScenario}
		_, err := p.parse([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestBundledCampaignsHaveTheDocumentedSizes(t *testing.T) {
	for name, want := range map[string][2]int{"paper": {560, 140}, "full": {85_800, 520}} {
		c, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		all := c.Experiments()
		references := 0
		for i := range all {
			if all[i].Reference {
				references++
			}
		}
		if got := [2]int{len(all) - references, references}; got != want || c.references() != references ||
			c.count() != len(all) || c.Name != name {
			t.Errorf("campaign %s %q: %d experiments and references, want %d; it says %d, %d", name, c.Name, got, want,
				c.count(), c.references())
		}
	}
	if d := cmp.Diff([]string{"full", "paper"}, Names()); d != "" {
		t.Error(d)
	}
}

func TestScenariosOfAFileAreFoundFromItsFolder(t *testing.T) {
	text, ok := scenarios.Text("g5k1")
	if !ok {
		t.Fatal("no scenario g5k1")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("mine.yaml", string(text))
	write("bad.yaml", "version: 2\n")
	c, err := Load(write("c.yaml", "version: 1\nname: c\nscenarios: [mine.yaml, g5k2]\nseeds: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Scenarios[0]; s.Path != filepath.Join(dir, "mine.yaml") || s.Grid.Sites[0].Name != "bordeaux" ||
		string(s.Text) != string(text) {
		t.Errorf("scenario %+v", s)
	}
	for scenarios, want := range map[string]string{
		"[g5k1, pvw]": `line 3: scenarios[1]: "pvw", accepted: pwa, m1, m2, m3, m4, m5, m6, pwa640, g5k1, g5k2, g5k3, g5k4, g5k5, g5k6, or the path of a scenario file`,
		"[bad.yaml]":  `bad.yaml:`,
		"[.]":         `no regular file`,
	} {
		_, err := Load(write("c.yaml", "version: 1\nname: c\nscenarios: "+scenarios+"\nseeds: [1]\n"))
		if _, typed := errors.AsType[*FileError](err); !typed || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "line 3: scenarios") {
			t.Errorf("%s: %v, want %s", scenarios, err, want)
		}
	}
	t.Chdir(dir)
	if err := os.Mkdir("paper", 0o700); err != nil { // the results of a campaign
		t.Fatal(err)
	}
	if c, err := Load("paper"); err != nil || c.Name != "paper" {
		t.Errorf("beside a folder of its name: %v", err)
	}
	_, err = Load("papr")
	if _, typed := errors.AsType[*UnknownError](err); !typed ||
		!strings.Contains(err.Error(), `"papr": no such file, accepted: full, paper`) {
		t.Errorf("an unknown campaign: %v", err)
	}
}

// FuzzParse: no file makes the parser fail in a way of its own, and what it takes
// is a campaign that can be combined.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("version: 1\nname: n\nscenarios: [a]\nseeds: &s [1, *s]\n"))
	f.Add([]byte("version: 1\nname: n\nscenarios: &s [a]\nseeds: *s\nwindows: [all, 7]\nperiods: [1h]\n" +
		"thresholds: [1us]\npatience: [off, 3]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parser{find: anyScenario}
		c, err := p.parse(data)
		if err != nil || c.most() > 1000 {
			return
		}
		all := c.Experiments()
		seen := make(map[[keys]string]bool)
		for i := range all {
			if e := &all[i]; seen[e.Key] || !e.Reference && e.Reallocation.Validate() != nil {
				t.Fatalf("experiment %v, twice %v: %v", e, seen[e.Key], e.Reallocation.Validate())
			}
			seen[all[i].Key] = true
		}
		if len(all) != c.count() || len(all) > c.most() {
			t.Fatalf("%d experiments, counted %d, at most %d", len(all), c.count(), c.most())
		}
		if q, _ := c.Quick(); q.count() > quickExperiments || len(all) != c.count() {
			t.Fatalf("a quick one has %d experiments, the whole one %d after it", q.count(), c.count())
		}
	})
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/reallocation"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// madeUpResults writes results of a campaign that was never run: under MCT the
// response time is 0.8 of that without reallocation, under others 0.9.
func madeUpResults(
	t *testing.T, dir string, load func() (*campaign.Campaign, error), leave func(*campaign.Experiment) bool,
) {
	t.Helper()
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(campaign.Columns, ","))
	experiments := c.Experiments()
	for i := range experiments {
		if e := &experiments[i]; !e.Reference && !leave(e) {
			relative := 0.9
			if strings.Contains(e.Key[6], "mct") {
				relative = 0.8
			}
			fmt.Fprintf(&b, "%s,100,100,50,0.5,10,0.1,30,0.6,%g,%g,100,0,2,4,0,24,48,960,0,0,1,0\n",
				strings.Join(e.Key[:], ","), relative, 100*relative)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, campaign.ResultsName), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func paperCampaign() (*campaign.Campaign, error) { return campaign.Load("paper") }

func none(*campaign.Experiment) bool { return false }

func TestReproReportsExistingResults(t *testing.T) {
	dir := t.TempDir()
	results, out, page := filepath.Join(dir, "results"), filepath.Join(dir, "docs", "figures", "r"), filepath.Join(dir,
		"docs", "page.md")
	madeUpResults(t, results, paperCampaign, none)
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte("before\n"+marks("reallocation")+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runLab(t, "repro", "reallocation", "--results", results, "--out", out, "--doc", page)
	if code != cmdline.ExitOK || !strings.Contains(stdout, "46 claims: ") ||
		!strings.Contains(stdout, "34 files in "+out) {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n<!--", "\n560 of the plan's 560 experiments.", "](figures/r/figure-13.svg)",
		"\n## Claims\n", "\n### Figure 6", "-->\nafter\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the page:\n%s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "figure-13.png")); err != nil {
		t.Error(err)
	}
}

func TestReproAnswersQuestionsFromTheirResults(t *testing.T) {
	dir := t.TempDir()
	madeUpResults(t, filepath.Join(dir, "paper"), paperCampaign, none)
	names, texts, err := reallocation.Campaigns()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, texts[i], 0o600); err != nil {
			t.Fatal(err)
		}
		madeUpResults(t, filepath.Join(dir, "open", name), func() (*campaign.Campaign, error) {
			return campaign.Load(file)
		},
			none)
	}
	code, stdout, stderr := runLab(t, "repro", "reallocation", "--results", filepath.Join(dir, "paper"), "--questions",
		filepath.Join(dir, "open"),
		"--partial", "--out", filepath.Join(dir, "out"), "--json")
	var view struct {
		Schema    string
		Questions []struct {
			ID   string
			Says []string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &view); err != nil || code != cmdline.ExitOK ||
		view.Schema != reallocation.Schema {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	for _, q := range view.Questions {
		if len(q.Says) == 0 {
			t.Errorf("%s: no answer", q.ID)
		}
	}
	if says := view.Questions[0].Says; len(says) != 2 || !strings.Contains(says[1], "**worse**") ||
		!strings.Contains(says[1], "in 0 of 280 pairs") {
		t.Errorf("%q", says)
	}
}

func TestReproRefusesIncompleteResults(t *testing.T) {
	dir := t.TempDir()
	lacking := filepath.Join(dir, "lacking")
	madeUpResults(t, lacking, paperCampaign, func(e *campaign.Experiment) bool {
		return e.Key[0] == "m3" && e.Seed == 7
	})
	code, _, stderr := runLab(t, "repro", "reallocation", "--results", lacking, "--out", filepath.Join(dir, "out"))
	if code != cmdline.ExitRefused || !strings.Contains(stderr,
		"8 of 560 experiments lack; m3, dedicated, binary tuning, seed 7, MCT-reg; "+
			"") || !strings.Contains(stderr, "--partial") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a report in spite of that")
	}
	out := filepath.Join(dir, "partial")
	if code, _, stderr := runLab(t, "repro", "reallocation", "--results", lacking, "--partial", "--out",
		out); code != cmdline.ExitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if svg, err := os.ReadFile(filepath.Join(out, "figure-06.svg")); err != nil ||
		!strings.Contains(string(svg), "PARTIAL, 8 of 560 lack") {
		t.Errorf("the figure does not say what lacks, %v", err)
	}
}

func TestReproRefusesBadArguments(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "results")
	madeUpResults(t, results, paperCampaign, none)
	broken := filepath.Join(dir, "broken")
	if err := os.MkdirAll(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, campaign.ResultsName), []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--partial", "--results", filepath.Join(dir, "nowhere")}, cmdline.ExitNotFound, "results.csv"},
		{
			[]string{"--results", broken},
			cmdline.ExitRefused,
			`results.csv, line 1: "a,b", accepted: a head line with scenario, `,
		},
		{[]string{"--results", results, "--jobs", "2000"}, cmdline.ExitUsage, "--jobs: 2000, accepted: 1..1024"},
		{[]string{"--results", results, "--doc", filepath.Join(dir, "none.md")}, cmdline.ExitNotFound, "--doc: "},
		{
			[]string{"--results", results, "--doc", filepath.Join(results, campaign.ResultsName)},
			cmdline.ExitFailure,
			"the page has no place for the report",
		},
	} {
		args := append([]string{"reallocation", "--out", filepath.Join(dir, "out")}, tc.args...)
		if code, _, stderr := runLab(t, append([]string{"repro"}, args...)...); code != tc.code ||
			!strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit %d, want %d and %q:\n%s", tc.args, code, tc.code, tc.want, stderr)
		}
	}
}

func TestReproGrowthDrawsATable(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(rows,
		[]byte("sites,jobs,heuristic,seconds\n3,1000,mct,0.1\n3,10000,mct,1\n9,1000,mct,2\n3,1000,minmin,0.5\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "new", "growth.svg")
	code, stdout, stderr := runLab(t, "repro", "growth", rows, "--by", "heuristic", "--where", "sites=3", "--title",
		"Rounds", "-o", out)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	svg, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(svg), ">minmin<") || !strings.Contains(string(svg), ">Rounds<") {
		t.Errorf("%v\n%s", err, svg)
	}
	if _, err := os.Stat(filepath.Join(dir, "new", "growth.png")); err != nil {
		t.Error(err)
	}
	code, _, stderr = runLab(t, "repro", "growth", rows, "--y", "minutes")
	if code != cmdline.ExitRefused ||
		!strings.Contains(stderr, `"minutes", accepted: sites, jobs, heuristic, seconds`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

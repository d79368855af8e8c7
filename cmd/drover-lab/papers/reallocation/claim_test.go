package reallocation

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

func report(t *testing.T, rows *Rows, o Options) *Report {
	t.Helper()
	r, err := NewReport(rows, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerdictsFollowTheRows(t *testing.T) {
	for name, tc := range map[string]struct {
		rows *Rows
		want papers.Verdict
	}{
		"all is as the paper says": {world(t, Paper, asThePaperSays, onOneSpeed(Paper)...), papers.Holds},
		"nothing is":               {world(t, Paper, theOpposite, onOneSpeed(Paper)...), papers.Differs},
		"nothing was measured":     {&Rows{}, papers.Open},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range report(t, tc.rows, Options{Plan: Paper, Partial: true}).Results {
				if r.Verdict != tc.want {
					t.Errorf("%s: %s, want %s; measured %q", r.ID, r.Verdict, tc.want, r.Measured)
				}
				if (r.Measured == "") != (tc.want == papers.Open) {
					t.Errorf("%s: measured %q", r.ID, r.Measured)
				}
			}
		})
	}
}

func TestVerdictsWithExhaustiveTuningUseTheirRows(t *testing.T) {
	other := Paper
	other.Tuning = exhaustive
	rows := world(t, Paper, func(k Key) outcome {
		if k.Tuning == exhaustive {
			return theOpposite(k)
		}
		return asThePaperSays(k)
	}, slices.Concat(onOneSpeed(Paper), other.experiments(), onOneSpeed(other))...)
	for _, r := range report(t, rows, Options{Plan: Paper}).Results {
		if r.Verdict != papers.Holds || r.Other != papers.Differs {
			t.Errorf("%s: %s, and %s with exhaustive tuning", r.ID, r.Verdict, r.Other)
		}
	}
	for _, r := range report(t, world(t, Paper, asThePaperSays), Options{Plan: Paper}).Results {
		if r.Other != papers.Open {
			t.Errorf("%s: %s without a row", r.ID, r.Other)
		}
	}
}

func TestMeasuredIsWhatTheRowsSay(t *testing.T) {
	want := map[string]string{
		"impacted-range":          "25% to 95% in 279 of 280 experiments; from 50.0% to 99.0%",
		"impacted-extreme":        "over 95% in 1 of 280 experiments (m3)",
		"impacted-cancellation":   "more in 140 of 140 pairs of experiments",
		"moves-most":              "at most 50.0%",
		"early-late-cases":        "2 of 28 cases (m4 MCT-reg, m4 MinMin-reg)",
		"early-late-month":        "1 of 7 scenarios (m4)",
		"response-worse":          "above 1: MCT-reg 1 of 70, MinMin-reg 1 of 70, MCT-can 0 of 70, MinMin-can 0 of 70",
		"response-cancellation":   "better in 13 of 14 cases (not m2 MCT-can)",
		"response-despite-late":   "in 20 of 280 experiments",
		"shared-impacted-steady":  "on 7 of 7 scenarios",
		"shared-moves-dozens":     "fewer in 280 of 280 experiments; from 50 to 80",
		"shared-early-exceptions": "MinMin-reg 2 experiments, the others 0",
		"shared-early-outlier":    "1 of 1 such experiments",
		"shared-early-mct":        "on pwa at least 45.0% under MinMin-reg, 70.0% under MCT-reg",
		"shared-response-range":   "in 14 of 14 cases",
		"shared-response-worst":   "at most 1.300",
		"shared-response-mean":    "in 28 of 28 cases",
		"homogeneous":             "greater in 560 of 560 pairs; mean 0.781, heterogeneous 0.811",
		"starvation":              "in 5 rounds at most (pwa, dedicated, binary tuning, seed 1, MCT-can)",
	}
	for _, r := range report(t, world(t, Paper, asThePaperSays, onOneSpeed(Paper)...), Options{Plan: Paper}).Results {
		if w, ok := want[r.ID]; ok && r.Measured != w {
			t.Errorf("%s: %q, want %q", r.ID, r.Measured, w)
		}
		delete(want, r.ID)
	}
	if len(want) > 0 {
		t.Errorf("no such claims: %v", want)
	}
}

func TestClaimsSayWhatTheyAreAndHowTheyAreTested(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Claims() {
		if c.ID == "" || seen[c.ID] || c.Says == "" || c.Test == "" || c.Check == nil ||
			!strings.HasPrefix(c.Of, "5") &&
				c.Of != "6" {
			t.Errorf("%+v", c)
		}
		if c.Figure != 0 && (c.Figure < 6 || c.Figure > 13) {
			t.Errorf("%s: figure %d", c.ID, c.Figure)
		}
		seen[c.ID] = true
	}
}

func TestAReasonIsPrintedOnlyIfItsClaimDiffers(t *testing.T) {
	if _, err := reasons(whyText); err != nil {
		t.Error(err)
	}
	if _, err := reasons([]byte("no-such-claim: because")); err == nil ||
		!strings.Contains(err.Error(), "no-such-claim") {
		t.Errorf("a reason of no claim: %v", err)
	}
	why, err := reasons([]byte("starvation: |\n  because\n"))
	if err != nil || why["starvation"] != "because\n" {
		t.Errorf("%v, %v", why, err)
	}
	differs := report(t, world(t, Paper, theOpposite), Options{Plan: Paper})
	for i := range differs.Results {
		switch r := &differs.Results[i]; r.ID {
		case "starvation":
			r.Why = why["starvation"]
		case "choice":
			r.Why = ""
		}
	}
	if text := differs.Markdown(2, ""); !strings.Contains(text, "- `starvation`: because\n") ||
		!strings.Contains(text, "- `choice`: not explained yet.\n") {
		t.Errorf("%s", text)
	}
	if text := report(t, world(t, Paper, asThePaperSays), Options{Plan: Paper}).Markdown(2, ""); strings.Contains(text,
		"not explained") {
		t.Error("explains what holds")
	}
}

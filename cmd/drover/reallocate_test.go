package main

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func (f agentFace) Reallocate(
	_ context.Context, req *droverv1.ReallocateRequest,
) (*droverv1.ReallocateResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reallocated = req
	shape := func(width int32) *droverv1.Shape {
		return &droverv1.Shape{Width: width, Walltime: durationpb.New(time.Minute)}
	}
	return &droverv1.ReallocateResponse{
		Record: &droverv1.RoundRecord{
			Round: "r", Agent: "g", BeganAt: timestamppb.New(time.Unix(1e9, 0)), DryRun: req.GetDryRun(),
			Algorithm: "regular", Heuristic: "mct",
			Window: "20", Sites: 2, Jobs: 9, Moves: 2, Failed: 1, Questions: 5, Estimates: 30,
			Gain: durationpb.New(100 * time.Second),
			Took: durationpb.New(200 * time.Millisecond), Asking: durationpb.New(100 * time.Millisecond),
		},
		Jobs: []*droverv1.ReallocatedJob{
			{
				JobId: movingJob, Service: "lu", From: "lyon", To: "nancy", Before: shape(2), After: shape(4),
				Ordered:   !req.GetDryRun(),
				EctBefore: durationpb.New(90 * time.Second), EctAfter: durationpb.New(20 * time.Second),
				Gain: durationpb.New(70 * time.Second),
			},
			{
				JobId: "other", Service: "lu", From: "lyon", To: "nancy", Before: shape(1), After: shape(1),
				EctBefore: durationpb.New(50 * time.Second), EctAfter: durationpb.New(20 * time.Second),
				Gain:    durationpb.New(30 * time.Second),
				Problem: &droverv1.ErrorDetail{Reason: "not-waiting", Message: "it is running"},
			},
		},
		Missing: []*droverv1.Candidate{
			{Site: "rennes", Missing: &droverv1.Missing{Reason: droverv1.MissingReason_MISSING_REASON_TIMEOUT}},
		},
	}, nil
}

func TestReallocateShowsMovesAndGains(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK, `^JOB +SERVICE +FROM +TO +WIDTH +ECT +NEW ECT +GAIN +STATE\n`+
		movingJob+` +lu +lyon +nancy +2>4 +1m30s +20\.0s +1m10s +ordered\n`+
		`other +lu +lyon +nancy +1 +50\.0s +20\.0s +30\.0s +stays: it is running\n\n`+
		`regular, mct: 2 of 9 waiting jobs at 2 sites moved, total gain 1m40s; 1 could not be ordered \(took 0\.2s, 0\.1s of it in 5 questions\)\n$`,
		`^drover: no answer from site rennes \(timeout\): it takes no part in the round\n$`, "reallocate")
	if r := f.reallocated; r.GetDryRun() || r.GetAlgorithm() != "" || r.GetThreshold() != nil ||
		r.MostMovesRound != nil {
		t.Errorf("asked for %v", r)
	}
	f.expect(t, cmdline.ExitOK, `would be ordered\n(.|\n)*2 of 9 waiting jobs at 2 sites would be moved`, ``,
		"reallocate", "--dry-run",
		"--algorithm", "all-cancellation", "--heuristic", "minmin", "--window", "all", "--threshold", "30s",
		"--least-gain", "5s", "--most-moves-round", "3")
	if r := f.reallocated; !r.GetDryRun() || r.GetAlgorithm() != "all-cancellation" || r.GetHeuristic() != "minmin" ||
		r.GetWindow() != "all" ||
		r.GetThreshold().GetSeconds() != 30 || r.GetLeastGain().GetSeconds() != 5 || r.GetMostMovesRound() != 3 {
		t.Errorf("asked for %v", r)
	}
	f.expect(t, cmdline.ExitOK,
		`"record": \{\s+"round": "r"(.|\n)*"jobs": 9(.|\n)*"moves": 2(.|\n)*"gain": "100s"(.|\n)*`+
			`"before": \{\s+"width": 2,\s+"walltime": "60s"\s+\}(.|\n)*"ectBefore": "90s"(.|\n)*"ordered": true(.|\n)*"reason": "not-waiting"(.|\n)*"site": "rennes"`,
		`^$`, "reallocate", "--json")
}

func TestRoundSummaryUsesPlurals(t *testing.T) {
	for want, r := range map[string]client.RoundRecord{
		"regular, mct: 0 of 1 waiting job at 1 site moved, total gain 0.0s (took 0.0s, 0.0s of it in 1 question)": {
			Jobs: 1, Sites: 1, Questions: 1,
		},
		"regular, mct: 0 of 0 waiting jobs at 2 sites moved, total gain 0.0s (took 0.0s, 0.0s of it in 0 questions)": {
			Sites: 2,
		},
	} {
		r.Algorithm, r.Heuristic = "regular", "mct"
		if got := roundSummary(&r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

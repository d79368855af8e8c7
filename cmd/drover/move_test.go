package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// drover runs one command line against a fake grid, in process.
func (f *fakeGrid) drover(args ...string) (code int, stdout, stderr string) {
	p, out, errOut := inProcess(&grid{agent: f.url}, args...)
	p.Terminal = false
	code = run(p)
	return code, out.String(), errOut.buf.String()
}

// expect fails the test unless a command has the exit code, and its stdout and stderr match the
// patterns.
func (f *fakeGrid) expect(t *testing.T, code int, stdout, stderr string, args ...string) {
	t.Helper()
	got, out, errOut := f.drover(args...)
	if got != code || !regexp.MustCompile(stdout).MatchString(out) || !regexp.MustCompile(stderr).MatchString(errOut) {
		t.Errorf("drover %s: exit code %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), got, out, errOut)
	}
}

func TestMoveOrdersAMoveAndPrintsIt(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK, `^`+movingJob+`: from lyon to nancy, pending\n$`, `^$`, "move", movingJob)
	if f.moved.GetTo() != "" || f.moved.GetMinGain() != nil || f.moved.GetReason() != "" {
		t.Errorf("ordered %v", f.moved)
	}
	f.expect(t, cmdline.ExitOK, `"to": "nancy"(.|\n)*"state": "MOVE_STATE_PENDING"`, `^$`,
		"move", movingJob, "nancy", "--min-gain", "30s", "--reason", "test", "--json")
	if f.moved.GetTo() != "nancy" || f.moved.GetMinGain().GetSeconds() != 30 || f.moved.GetReason() != "test" {
		t.Errorf("ordered %v", f.moved)
	}
	f.expect(t, cmdline.ExitUsage, ``, `job "x", accepted: a job.s ID`, "move", "x")
}

func TestMoveWaitsForTheOutcome(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK, `: from lyon to nancy, moved\n$`, ``, "move", movingJob, "--wait")
	if f.polls != 3 || f.filter != "job="+movingJob {
		t.Errorf("looked %d times, for %s", f.polls, f.filter)
	}
	f = newFakeGrid(t)
	f.outcome = droverv1.MoveState_MOVE_STATE_ABORTED
	f.expect(t, cmdline.ExitFailure, `: from lyon to nancy, aborted: it has started\n$`, ``, "move", movingJob,
		"--wait")
	f.expect(t, cmdline.ExitFailure, `"state": "MOVE_STATE_ABORTED"(.|\n)*"abortedWhy": "it has started"`, ``, "move",
		movingJob, "--wait", "--json")
}

func TestMovesListsAllFieldsOfMoves(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK,
		`ORDERED +JOB +SERVICE +FROM +TO +EPOCH +STATE +WHY +AGENT +PREDICTED +REALIZED\n`+
			`2001-09-0[89] \d\d:\d\d:\d\d +`+movingJob+
			` +lu +lyon +nancy +2 +pending +by hand +g +1m30s +-\n- .* drain +- +-1.0s`,
		`no answer from site rennes`, "moves", "--job", movingJob, "--site", "lyon", "--state", "pending")
	if f.filter != "job="+movingJob+" site=lyon state=pending" {
		t.Errorf("asked for %q", f.filter)
	}
	f.expect(t, cmdline.ExitOK, `"predictedGain": "90s"(.|\n)*"realizedGain": "-1s"(.|\n)*"site": "rennes"`, `^$`,
		"moves", "--json")
}

func TestDrainAndResumePrintTheQueue(t *testing.T) {
	f := newFakeGrid(t)
	f.waiting = 2
	f.expect(t, cmdline.ExitOK, `^lyon accepts no new jobs: 1 running, 2 waiting\n$`, `^$`, "drain", "lyon")
	f.expect(t, cmdline.ExitOK, `^lyon accepts no new jobs: 1 running, 0 waiting\n$`, `^$`, "drain", "lyon", "--wait")
	f.expect(t, cmdline.ExitOK, `^lyon accepts jobs: 1 running, 0 waiting\n$`, `^$`, "resume", "lyon")
	f.expect(t, cmdline.ExitOK, `"running": 1(.|\n)*"draining": true`, `^$`, "drain", "lyon", "--json")
	f.expect(t, cmdline.ExitNotFound, `^$`, `no site paris`, "drain", "paris")
}

func TestResolveOnlyExplainsWithoutYes(t *testing.T) {
	f := newFakeGrid(t)
	for as, risk := range map[string]string{
		"committed": "kept the job, it runs twice", "aborted": "handed the job over, it is lost",
		"take-back": "target has the job, it runs twice",
	} {
		f.expect(t, cmdline.ExitUsage, `^$`,
			`the move: +from lyon to nancy, ordered at (.|\n)*silent site: nancy, last answer 1h0m0s ago\n`+
				`the job: +moving at lyon, epoch 2\n(.|\n)*`+risk+`(.|\n)*nothing was done\nhint: add --yes`,
			"settle", movingJob, as, "--at", "nancy", "--epoch", "2")
	}
	if f.settled != nil {
		t.Fatalf("the move was settled without --yes: %v", f.settled)
	}
	f.expect(t, cmdline.ExitOK, `^`+movingJob+` at nancy: waiting\n$`, `^$`,
		"settle", movingJob, "take-back", "--at", "nancy", "--epoch", "2", "--reason", "burnt", "--yes")
	if s := f.settled.GetSettle(); f.settled.GetSite() != "nancy" || s.GetJobId() != movingJob || s.GetEpoch() != 2 ||
		s.GetSettlement() != droverv1.Settlement_SETTLEMENT_TAKE_BACK || s.GetReason() != "burnt" {
		t.Errorf("settled %v", f.settled)
	}
	f.expect(t, cmdline.ExitUsage, `^$`, `must be one of`, "settle", movingJob, "lost", "--at", "nancy", "--epoch",
		"2")
	f.expect(t, cmdline.ExitUsage, `^$`, `epoch`, "settle", movingJob, "aborted", "--at", "nancy")
}

func TestJobsShowTheirMovesAndWhatIsUncertain(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK, `state +moving to nancy\n(.|\n)*`+
		`moved +- from nancy to lyon: drain\nstayed +- from lyon to rennes: no answer in time\nmoving +2001-09-0[89] \d\d:\d\d:\d\d from lyon to nancy\nretry of +01a1fddd-b7ba-7e51-8bf0-000000000000\nattempt +2\n`, `^$`, "job", movingJob)
	f.expect(t, cmdline.ExitOK, `"peer": "nancy",\n +"attempt": 2,\n +"retryOf": "01a1(.|\n)*"moves": `, `^$`, "job",
		movingJob, "--json")
	f.expect(t, cmdline.ExitOK,
		`lyon +moving to nancy .* moved once, attempt 2\n(.|\n)*nancy +unknown for 1m10s \(was incoming from lyon, cancel recorded\)`,
		`^drover: no answer from site rennes \(no answer in time\): .*\n$`, "queue")
	f.expect(t, cmdline.ExitOK,
		`"cancelRecorded": true,\n +"unknownFor": "70s"(.|\n)*"missing": \[(.|\n)*"site": "rennes"`, `^$`, "queue",
		"--json")
	f.expect(t, cmdline.ExitOK, `draining; degraded: its disk is full or fails; launches fail: too many open files; its clock is 1h0m0s off until a restart\n`, `^$`, "sites")
	f.expect(t, cmdline.ExitOK, `"draining": true,\n +"commits": "7",\n +"syncs": "3",\n +"degraded": true`, `^$`,
		"sites", "--json")
}

func TestRerunNeedsAnIdempotentRequest(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitRefused, `^$`, `rerun: .*accepted: an idempotent request`, "submit", "lu", "--rerun-after",
		"1m")
	f.expect(t, cmdline.ExitRefused, `^$`, `rerun: .*accepted: an idempotent request`, "call", "lu", "--rerun-after",
		"1m")
	f.expect(t, cmdline.ExitUsage, `^$`, `--rerun-after -1s`, "wait", movingJob, "--rerun-after=-1s")
}

func TestASilentSiteIsNamedWithTheNumberOfTries(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitUnavailable, `^$`,
		`job `+movingJob+
			`: gave up after \S+ and \d+ tr(y|ies), the last at site lyon: (.|\n)*hint: the job's state is unknown while site lyon is silent`,
		"wait", movingJob, "--patience", "300ms")
}

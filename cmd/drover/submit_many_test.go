package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// At Ctrl-C, submissions in progress finish and are printed, and no other one starts.
func TestInterruptedArrayPrintsSubmittedJobs(t *testing.T) {
	g := startGrid(t)
	p, out, stderr := inProcess(g, "submit", "sleep", "seconds=300", "--array", "1-10000", "--owner", "crowd")
	stderr.word = "submitted 1"
	if code := run(p); code != cmdline.ExitInterrupted {
		t.Errorf("submit: exit code %d: %s", code, stderr.buf.String())
	}
	ids := strings.Fields(out.String())
	if n := len(ids); n == 0 || n > 9000 {
		t.Fatalf("%d jobs", n)
	}
	if want := fmt.Sprintf("interrupted: %d submitted, and none from index %d on", len(ids),
		len(ids)+1); !strings.Contains(stderr.buf.String(), want) {
		t.Errorf("stderr %q, want %q", stderr.buf.String(), want)
	}
	c, err := client.New(client.Default(g.agent))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.Jobs(t.Context(), client.JobFilter{Owner: "crowd"})
	if err != nil || len(list.Jobs) != len(ids) {
		t.Errorf("the grid has %d jobs, %v, want %d", len(list.Jobs), err, len(ids))
	}
	// A wait for several jobs can be interrupted, too.
	p, _, stderr = inProcess(g, "wait", ids[0], ids[1])
	stderr.word = "0 of 2 jobs have ended"
	if code := run(p); code != cmdline.ExitInterrupted || !strings.Contains(stderr.buf.String(),
		"interrupted; 2 jobs continue: "+ids[0]+" "+ids[1]) {
		t.Errorf("wait: exit code %d, stderr %q", code, stderr.buf.String())
	}
	if j, err := c.Job(t.Context(), ids[0]); err != nil || j.State.Final() {
		t.Errorf("the job is %v, %v", j, err)
	}
}

// If no site accepts jobs now, the next request would fail too.
func TestAnArrayStopsWhenNoSiteAcceptsJobs(t *testing.T) {
	g := startGrid(t)
	for _, site := range []string{"lyon", "nancy"} {
		if p, _, stderr := inProcess(g, "drain", site); run(p) != cmdline.ExitOK {
			t.Fatal(stderr.buf.String())
		}
	}
	p, out, stderr := inProcess(g, "submit", "sleep", "--array", "1-500", "--patience", "50ms", "--quiet")
	if code := run(p); code != cmdline.ExitUnavailable || out.Len() > 0 {
		t.Errorf("submit: exit code %d: %s", code, out)
	}
	failed := strings.Count(stderr.buf.String(), "drover: index ")
	if failed == 0 || failed > 2*submitWorkers {
		t.Errorf("%d requests were tried", failed)
	}
	if want := fmt.Sprintf("drover: 0 submitted, and none from index %d on\n", failed+1); !strings.HasSuffix(
		stderr.buf.String(), want,
	) {
		t.Errorf("stderr %q, want %q", stderr.buf.String(), want)
	}
}

func TestUploadsShowProgress(t *testing.T) {
	g := startGrid(t)
	p, _, stderr := inProcess(g, "call", "lu", "matrix=../../server/services/lu/testdata/lund_a.mtx", "order=147")
	if code := run(p); code != cmdline.ExitOK || !strings.Contains(stderr.buf.String(), "sending lund_a.mtx: ") {
		t.Errorf("call: exit code %d, stderr %q", code, stderr.buf.String())
	}
}

func TestMissingLocalGridHintsHowToStartOne(t *testing.T) {
	lost := &problem.Problem{
		Reason: problem.Unreachable, Message: "no connection to agent http://127.0.0.1:7410: refused",
		Hint: "is it running?",
	}
	nowhere := func(string) string { return "" }
	a := &app{Process: &cmdline.Process{Getenv: nowhere}, flags: &cli{}}
	if v := describe(a.withLocalHint(lost), 69); !strings.Contains(v.Hint, "drover demo --keep") ||
		v.Reason != problem.Unreachable {
		t.Errorf("%+v", v)
	}
	if code := codeOf(a.withLocalHint(lost)); code != cmdline.ExitUnavailable {
		t.Errorf("exit code %d", code)
	}
	a.flags.Agent = []string{"http://127.0.0.1:7410"} // the user named this agent, so the hint is about it
	if v := describe(a.withLocalHint(lost), 69); v.Hint != "is it running?" {
		t.Errorf("%+v", v)
	}
}

func TestAProgressLineFitsTheTerminal(t *testing.T) {
	var out strings.Builder
	p := &cmdline.Process{Stderr: &out, Terminal: true, Width: func() int { return 10 }}
	line := &progress{app: &app{Process: p, flags: &cli{}}}
	line.line("%s", "01234567890123456789")
	line.sending("m", 1<<20, 4<<20)
	line.clear()
	line.clear()
	if want := "\r\x1b[K012345678\r\x1b[Ksending m\r\x1b[K"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	for _, quiet := range []cli{{Quiet: true}, {JSON: true}} {
		out.Reset()
		(&progress{app: &app{Process: p, flags: &quiet}}).line("x")
		if out.Len() > 0 {
			t.Errorf("%+v: %q", quiet, out.String())
		}
	}
}

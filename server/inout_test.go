package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// changesYAML defines services that change their input at the start and end when the
// gate exists.
const changesYAML = `
services:
  inline:` + ledgerYAML + `
    - name: changes
      doc: Adds a sign and waits.
      args: &args2
        - {name: gate, type: string}
        - {name: c, type: vector-inout, element: uint8}
        - {name: same, type: vector-out, element: uint8, dims: [c.length]}
      command: &command2 [sh, -c, 'cp "$2" "$1.stale"; printf + >> "$1"; until [ -e "$0" ]; do sleep 0.02; done; [ "$DROVER_RESTART" != 0 ] || exit 85; cp "$1" "$1.all"; head -c 3 "$1" > "$2"; cp "$2" "$1"', "{gate}", "{c}", "{same}"]
      restartable: true
      model: {fixed: {width: 1, time: 1000s}}
    - name: saves
      doc: The same, and makes a checkpoint at the gate.
      args: *args2
      command: *command2
      checkpoint: {signal: USR1}
      walltime: {factor: 1}
      model: {fixed: {width: 4, time: 1000s}}
    - name: fails
      doc: The same, and fails at first.
      args: *args2
      command: [sh, -c, 'printf + >> "$1"; cp "$1" "$1.all"; [ -e "$0" ] || {{ touch "$0"; exit 3; }}; head -c 3 "$1" > "$2"; cp "$2" "$1"', "{gate}", "{c}", "{same}"]
      model: {fixed: {width: 1, time: 1000s}}
`

// changing returns a request for such a service, with the vector "abc".
func changing(t testing.TB, p *processSite, service string) (r *droverv1.Request, gate string) {
	t.Helper()
	gate = filepath.Join(t.TempDir(), "gate")
	s := &testSite{client: p.client, base: "http://" + p.address()}
	return &droverv1.Request{Service: service, Arguments: arguments{
		"gate": text(gate), "c": s.array(t, []byte("abc"), droverv1.ElementType_ELEMENT_TYPE_UINT8, 3),
	}}, gate
}

// has waits until a file in the job's directory has this content.
func (p *processSite) has(id, name, content string) {
	p.t.Helper()
	ctx := within(p.t)
	for ctx.Err() == nil {
		if got, err := os.ReadFile(filepath.Join(p.dir, "jobs", id, name)); err == nil && string(got) == content {
			return
		}
		pause(ctx, 10e6)
	}
	got, err := os.ReadFile(filepath.Join(p.dir, "jobs", id, name))
	p.t.Fatalf("%s of job %s holds %q, %v, want %q", name, id, got, err, content)
}

func open(t testing.TB, gate string) {
	t.Helper()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSecondAttemptStartsWithTheOriginalInput(t *testing.T) {
	t.Parallel()
	p := newProcessSite(t, "lyon", changesYAML)
	p.run()
	r, gate := changing(t, p, "changes")
	id := p.submit(newID(t), r).GetId()
	p.until(id, running)
	p.has(id, "work/c", "abc+")
	if err := os.WriteFile(filepath.Join(p.dir, "jobs", id, "work", "same"), []byte("not by the next one"),
		0o600); err != nil {
		t.Fatal(err)
	}
	p.killSupervisors()
	open(t, gate)
	if j := p.until(id, done); j.GetAttempt() != 2 {
		t.Errorf("%v", j)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "jobs", id, "work", "c.stale")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second attempt sees the first one's output: %v", err)
	}
	p.has(id, "work/c.all", "abc+")
	p.has(id, "work/c", "abc")
	p.has(id, "inout/c", "abc")
}

func TestRetryStartsWithTheOriginalInput(t *testing.T) {
	t.Parallel()
	p := newProcessSite(t, "lyon", changesYAML)
	p.run()
	r, _ := changing(t, p, "fails")
	r.Retries = 1
	id := p.submit(newID(t), r).GetId()
	if j := p.until(id, done, failed); j.GetState() != done || j.GetRetried() != 1 {
		t.Errorf("%v", j)
	}
	p.has(id, "work/c.all", "abc+")
}

func TestContinuedAttemptKeepsTheChangedInput(t *testing.T) {
	t.Parallel()
	p := newProcessSite(t, "lyon", changesYAML)
	p.run()
	r, gate := changing(t, p, "saves")
	id := p.submit(newID(t), r).GetId()
	p.until(id, running)
	p.has(id, "work/c", "abc+")
	p.kill()
	open(t, gate)
	p.attemptSays(id, "0-1", `"exit":85`)
	p.run()
	if j := p.until(id, done); j.GetCheckpoints() != 1 {
		t.Errorf("%v", j)
	}
	p.has(id, "work/c.all", "abc++")
}

func TestMoveTakesInOutFilesAlong(t *testing.T) {
	t.Parallel()
	g := newGrid(t, changesYAML)
	busy := g.source.submit(newID(t), g.ground.request("once", 4, true, 0))
	g.source.ready(busy.GetId())
	r, gate := changing(t, g.source, "changes")
	id := g.source.submit(newID(t), r).GetId()
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	open(t, gate)
	j := untilJob(t, g.target.client, id, final)
	if j.GetState() != done || len(j.GetOutputs()) != 2 || j.GetOutputs()[0].GetDimensions()[0] != 3 {
		t.Errorf("%v", j)
	}
	g.target.has(id, "work/c.all", "abc+")
	g.ground.open()
}

func TestWrongArrayWrittenWhileTheServerIsDownFailsTheJob(t *testing.T) {
	t.Parallel()
	p := newProcessSite(t, "lyon", changesYAML)
	p.run()
	r, gate := changing(t, p, "changes")
	r.Arguments["c"] = (&testSite{client: p.client, base: "http://" + p.address()}).array(t, []byte("a"),
		droverv1.ElementType_ELEMENT_TYPE_UINT8, 1)
	id := p.submit(newID(t), r).GetId()
	p.until(id, running)
	p.has(id, "work/c", "a+")
	p.kill()
	open(t, gate)
	p.attemptSays(id, "0-1", `"exit":0`)
	p.run()
	want := "output c has 2 bytes: expected 1 of uint8, 1 bytes; output same has 2 bytes: expected 1 of uint8, 1 bytes"
	if j := p.until(id, failed); j.GetOutcome().GetReason() != want || len(j.GetOutputs()) != 2 {
		t.Errorf("%v", j)
	}
}

func TestArraysUnderSlurm(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 4})[0]
	s := start(t, slurmSite(t, c, arraysYAML+"\non_stop: end"))
	j := s.submit(t, &droverv1.Request{Service: "stack", Arguments: s.stacked(t)})
	s.until(t, j.GetId(), done)
	for name, want := range map[string]string{"x": "\x07\x00\x00\x00\x02\x00\x00\x00", "journal": "begun\n2x3 1 2\n"} {
		if got, err := s.download(within(t), j.GetId(), name, 0); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

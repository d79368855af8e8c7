package server

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// savesYAML defines a service that records each start, yields its processors as soon as
// a file exists, and ends after one resume.
const savesYAML = `
services:
  inline:
    - name: saves
      doc: Makes a checkpoint once there is a file.
      args: [{name: gate, type: string}]
      command: [sh, -c, 'echo "run $DROVER_RESTART for $DROVER_WALLTIME"; echo . >> "$DROVER_CHECKPOINT/starts"; [ "$DROVER_RESTART" = 0 ] || exit 0; until [ -e "$0" ]; do sleep 0.02; done; exit 85', "{gate}"]
      checkpoint: {signal: USR1}
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 1000s}}`

// The server is killed around the request to checkpoint. It cannot know whether the job
// received it.
func TestJobCheckpointedWhileTheServerIsDownResumes(t *testing.T) {
	for name, away := range map[string]bool{
		"checkpoint while the server is down": true,
		"checkpoint after the restart":        false,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcessSite(t, "lyon", savesYAML)
			p.run()
			gate := filepath.Join(t.TempDir(), "gate")
			id := p.submit(newID(t), &droverv1.Request{Service: "saves", Arguments: map[string]*droverv1.Value{
				"gate": {Kind: &droverv1.Value_StringValue{StringValue: gate}},
			}}).GetId()
			p.until(id, running)
			p.kill()
			if !away {
				p.run()
			}
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if away {
				p.attemptSays(id, "0-1", `"exit":85`)
				p.run()
			}
			j := p.until(id, done)
			if j.GetAttempt() != 2 || j.GetCheckpoints() != 1 || j.GetCheckpointedAfter().AsDuration() <= 0 {
				t.Errorf("%v", j)
			}
			starts, err := os.ReadFile(filepath.Join(p.dir, "jobs", id, "checkpoint", "starts"))
			if err != nil || string(starts) != ".\n.\n" {
				t.Errorf("starts %q, %v", starts, err)
			}
			out, err := os.ReadFile(filepath.Join(p.dir, "jobs", id, "stdout"))
			if err != nil || !strings.HasPrefix(string(out), "run 0 for 1000\nrun 1 for ") ||
				strings.Contains(string(out), "run 1 for 1001") {
				t.Errorf("stdout %q, %v", out, err)
			}
		})
	}
}

// attemptSays waits until the file of an attempt contains what.
func (p *processSite) attemptSays(id, name, what string) {
	p.t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 3000 {
		text, _ := os.ReadFile(filepath.Join(p.dir, "jobs", id, "attempts", name))
		if strings.Contains(string(text), what) {
			return
		}
		<-ticker.C
	}
	p.t.Fatalf("the attempt file of job %s does not contain %s", id, what)
}

func TestOutcomeOfAnUnwatchedAttempt(t *testing.T) {
	began := time.Unix(1000, 0)
	exited := func(code int) attempt.Status {
		return attempt.Status{Condition: attempt.Exited, Code: code, Started: began}
	}
	for name, c := range map[string]struct {
		state  site.State
		status attempt.Status
		can    bool
		want   batch.End
	}{
		"checkpointed":                     {site.Running, exited(85), true, batch.EndStopped},
		"exit code 85 without checkpoints": {site.Running, exited(85), false, batch.EndFailed},
		"cancelled during its checkpoint":  {site.Cancelling, exited(85), true, batch.EndCancelled},
		"finished":                         {site.Running, exited(0), true, batch.EndDone},
		"failed":                           {site.Running, exited(3), true, batch.EndFailed},
		"killed before its walltime": {site.Running, attempt.Status{
			Condition: attempt.Signaled,
			Signal:    syscall.SIGKILL, Started: began,
		}, true, batch.EndFailed},
		"lost during its checkpoint": {
			site.Running,
			attempt.Status{Condition: attempt.Lost, Started: began},
			true,
			batch.EndLost,
		},
	} {
		j := &site.Job{State: c.state, Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}
		got := outcome(j, &c.status, began.Add(time.Second), c.can)
		if got.End != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

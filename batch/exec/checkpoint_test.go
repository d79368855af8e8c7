package exec

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// saving returns minute's job with a checkpoint.
func saving(how batch.Checkpoint) batch.Command {
	cmd := minute()
	shelf.put(cmd.Key, batch.Program{Args: []string{"x"}, Checkpoint: &how})
	return cmd
}

// next returns the submission of the attempt after one of saving's, with the remaining
// walltime.
func next(attempt uint32, left batch.Duration) batch.Command {
	cmd := minute()
	shelf.put(cmd.Key, batch.Program{Args: []string{"x"}, Checkpoint: &batch.Checkpoint{
		Signal: "SIGUSR1", Grace: 30 * batch.Second,
	}})
	cmd.Job.Shape.Walltime, cmd.Job.Done = left, batch.Minute-left
	cmd.After = cmd.Key
	cmd.After.Attempt = attempt - 1
	cmd.Key.Attempt = attempt
	return cmd
}

// stopped runs saving's job until a policy requests a checkpoint after 10 s.
func stopped(t *testing.T, how batch.Checkpoint, more ...line) (*System, *toy, fakes, *fake) {
	l := newFakes()
	p := newToy(4, append([]line{{10 * batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}}}, more...)...)
	s := open(t, Config{Policy: p, Launcher: l})
	do(t, s, saving(how))
	proc := <-l.launched
	time.Sleep(11500 * time.Millisecond) //nolint:forbidigo // virtual time
	synctest.Wait()
	return s, p, l, proc
}

var usr1 = batch.Checkpoint{Signal: "SIGUSR1", Grace: 30 * batch.Second}

func TestCheckpointedJobIsLaunchedAgainForTheRestOfItsWalltime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, l, proc := stopped(t, usr1, line{100 * batch.Second, batch.Decision{Kind: batch.Resume, Job: 1}})
		if diff := cmp.Diff([]syscall.Signal{syscall.SIGUSR1}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		proc.end <- Exit{Code: batch.CheckpointStatus}
		f := await(t, s, "a", batch.PhaseEnded)
		if f.Outcome.End != batch.EndStopped || !strings.HasPrefix(f.Outcome.Reason, "checkpointed after 11.") {
			t.Errorf("%+v", f.Outcome)
		}
		if snap := snapshot(t, s); snap.Free != 3 || p.received() != "submit a" {
			t.Errorf("%d free, received %q, before the next attempt is there", snap.Free, p.received())
		}
		do(t, s, next(2, 49*batch.Second), next(2, 49*batch.Second))
		if snap := snapshot(t, s); snap.Free != 4 || len(snap.Waiting) != 1 || snap.Waiting[0].Key.Attempt != 2 {
			t.Errorf("%+v", snap)
		}
		again := <-l.launched
		if again.spec.Key.Attempt != 2 || again.spec.Shape.Walltime != 49*batch.Second {
			t.Errorf("%+v", again.spec)
		}
		synctest.Wait()
		if received := p.received(); !strings.HasSuffix(received, ", resumed a") {
			t.Errorf("received %q when the next attempt runs", received)
		}
		time.Sleep(48 * time.Second) //nolint:forbidigo // virtual time
		synctest.Wait()
		if got := again.signals(); len(got) > 0 {
			t.Errorf("%v before its walltime", got)
		}
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		synctest.Wait()
		if diff := cmp.Diff([]syscall.Signal{term}, again.signals()); diff != "" {
			t.Error(diff)
		}
		again.end <- Exit{}
		synctest.Wait()
		if received := p.received(); !strings.HasPrefix(received, "submit a, stopped a 11.") ||
			!strings.HasSuffix(received, ", finish a") {
			t.Errorf("received %q", received)
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
}

// The policy pauses the job after 10 s, but it responds to requests only after 20 s.
func TestACheckpointIsNotRequestedBeforeItsMinimumRuntime(t *testing.T) {
	late := usr1
	late.After = 20 * batch.Second
	for name, c := range map[string]struct {
		end  *Exit // while it ignores signals; nil: it continues
		want batch.Outcome
	}{
		"received then": {nil, batch.Outcome{
			End: batch.EndKilled, Signal: "SIGKILL",
			Reason: "it was asked to stop at a checkpoint, and has written no checkpoint within 30s",
		}},
		"for a cause": {&Exit{Code: 3, Reason: "why"}, batch.Outcome{
			End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3, why",
		}},
		"by a signal": {
			&Exit{Signal: syscall.SIGKILL, Reason: "why"}, batch.Outcome{
				End: batch.EndFailed, Signal: "SIGKILL", Reason: "signal SIGKILL, why",
			},
		},
		"failed by itself": {&Exit{Code: 3}, batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}},
		"done":             {&Exit{}, batch.Outcome{End: batch.EndDone}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, _, proc := stopped(t, late)
				time.Sleep(8 * time.Second) //nolint:forbidigo // virtual time
				synctest.Wait()
				if got := proc.signals(); len(got) > 0 {
					t.Fatalf("%v before it listens", got)
				}
				if c.end != nil {
					proc.end <- *c.end
				} else {
					time.Sleep(time.Second) //nolint:forbidigo // virtual time
					synctest.Wait()
					if diff := cmp.Diff([]syscall.Signal{syscall.SIGUSR1}, proc.signals()); diff != "" {
						t.Error(diff)
					}
				}
				f := await(t, s, "a", batch.PhaseEnded)
				if diff := cmp.Diff(c.want, f.Outcome); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestJobCanEndOtherwiseAfterACheckpointRequest(t *testing.T) {
	for name, c := range map[string]struct {
		exit *Exit // nil: it continues
		want batch.Outcome
	}{
		"finished before the checkpoint": {&Exit{}, batch.Outcome{End: batch.EndDone}},
		"failed": {&Exit{Code: 3}, batch.Outcome{
			End: batch.EndKilled, ExitCode: 3,
			Reason: "it was asked to stop at a checkpoint, and left no checkpoint: exit status 3",
		}},
		"killed by the checkpoint signal": {&Exit{Signal: syscall.SIGUSR1}, batch.Outcome{
			End: batch.EndKilled, Signal: "SIGUSR1",
			Reason: "it was asked to stop at a checkpoint, and left no checkpoint: signal SIGUSR1",
		}},
		"too slow": {nil, batch.Outcome{
			End: batch.EndKilled, Signal: "SIGKILL",
			Reason: "it was asked to stop at a checkpoint, and has written no checkpoint within 30s",
		}},
		"lost": {&Exit{Lost: true, Reason: "why"}, batch.Outcome{End: batch.EndLost, Reason: "why"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p, _, proc := stopped(t, usr1)
				if c.exit != nil {
					proc.end <- *c.exit
				}
				f := await(t, s, "a", batch.PhaseEnded)
				if diff := cmp.Diff(c.want, f.Outcome); diff != "" {
					t.Error(diff)
				}
				broken := ""
				if c.want.End == batch.EndKilled {
					broken = " broken"
				}
				if received := p.received(); received != "submit a, finish a"+broken || snapshot(t, s).Free != 4 {
					t.Errorf("received %q, %+v", received, snapshot(t, s))
				}
			})
		})
	}
}

func TestJobCanceledDuringItsCheckpointIsNotContinued(t *testing.T) {
	for name, when := range map[string]string{
		"before its end": "running", "before the next attempt": "parked", "with the next attempt": "pending",
		"waiting": "waiting",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p, _, proc := stopped(t, usr1)
				if when == "running" {
					do(t, s, order(batch.CmdCancel, "a"))
				}
				proc.end <- Exit{Code: batch.CheckpointStatus}
				f := await(t, s, "a", batch.PhaseEnded)
				again := next(2, 49*batch.Second)
				cancel := order(batch.CmdCancel, "a")
				cancel.Key.Attempt = 2
				switch when {
				case "running":
					if f.Outcome.End != batch.EndCancelled {
						t.Errorf("%+v", f.Outcome)
					}
				case "parked":
					do(t, s, order(batch.CmdCancel, "a"), order(batch.CmdCancel, "a"))
				case "pending":
					do(t, s, again, cancel)
				case "waiting":
					do(t, s, again)
					do(t, s, cancel)
				}
				if received := p.received(); snapshot(t, s).Free != 4 ||
					!strings.HasSuffix(received, "cancel a") && !strings.HasSuffix(received, "finish a") {
					t.Errorf("%+v, received %q", snapshot(t, s), received)
				}
				// The handle can be used again.
				do(t, s, submission("b", 4, batch.Program{Args: []string{"x"}}))
				if f := find(t, s, "b"); f.Phase < batch.PhaseStarting || f.Phase == batch.PhaseEnded {
					t.Errorf("the next job is in phase %d", f.Phase)
				}
			})
		})
	}
}

// A server that was killed can have requested it.
func TestAnUnrequestedStopAtACheckpointEndsTheJobForThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, saving(usr1))
		(<-l.launched).end <- Exit{Code: batch.CheckpointStatus}
		if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndStopped {
			t.Errorf("%+v", f.Outcome)
		}
		do(t, s, next(2, 49*batch.Second))
		again := <-l.launched
		if received := p.received(); received != "submit a, finish a, submit a" {
			t.Errorf("received %q", received)
		}
		again.end <- Exit{}
		synctest.Wait()
	})
}

// shell returns a job that ends with the exit status of a checkpoint after a file "stop"
// appears.
func shell(command ...string) batch.Command {
	cmd := submission("a", 1, batch.Program{
		Args: []string{"sh", "-c", `echo up > up; until [ -e stop ]; do sleep 0.01; done; exit 85`}, Stdout: "out",
		Stderr:     "err",
		Env:        map[string]string{"NOTE": "of the job"},
		Checkpoint: &batch.Checkpoint{Command: command, Grace: batch.Minute},
	})
	return cmd
}

func TestCheckpointCommandRunsBesideTheJobWithItsEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		end     batch.End
		reason  string
	}{
		"well": {
			[]string{"sh", "-c", `[ "$NOTE" = "of the job" ] && [ "$DROVER_JOB_ID" = a ] && echo said && : > stop`},
			batch.EndStopped, "checkpointed after ",
		},
		"badly": {
			[]string{"sh", "-c", "exit 7"},
			batch.EndKilled,
			"it was asked to stop at a checkpoint, and its checkpoint command failed: exit status 7",
		},
		"missing": {
			[]string{"no-such-command"},
			batch.EndKilled,
			"it was asked to stop at a checkpoint, and its checkpoint command failed: command no-such-command: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newToy(4, line{batch.Millisecond, batch.Decision{Kind: batch.Pause, Job: 1}})
			s := open(t, Config{Policy: p})
			do(t, s, shell(c.command...))
			f := await(t, s, "a", batch.PhaseEnded)
			if f.Outcome.End != c.end || !strings.HasPrefix(f.Outcome.Reason, c.reason) {
				t.Errorf("%+v", f.Outcome)
			}
		})
	}
}

func TestCheckpointCommandEndsWithTheProgram(t *testing.T) {
	p := newToy(4, line{batch.Millisecond, batch.Decision{Kind: batch.Pause, Job: 1}})
	s := open(t, Config{Policy: p})
	do(t, s, shell("sh", "-c", ": > stop; exec sleep 300"))
	if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndStopped {
		t.Errorf("%+v", f.Outcome)
	}
	if err := s.Close(context.Background()); err != nil { // goleak checks the rest
		t.Error(err)
	}
}

func TestImpossibleCheckpointIsRefusedAtTheLaunch(t *testing.T) {
	for _, how := range []batch.Checkpoint{{Grace: 1}, {Signal: "TERM", Grace: 1}, {Signal: "SIGTERM"}} {
		s := open(t, Config{Launcher: newFakes()})
		do(t, s, saving(how))
		if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndStartFailed ||
			!strings.Contains(f.Outcome.Reason, "checkpoint") {
			t.Errorf("%+v: %+v", how, f.Outcome)
		}
	}
}

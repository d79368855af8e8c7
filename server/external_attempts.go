package server

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// batchScripts implements external.Programs. A script is one shell command that runs
// `drover attempt` and the program as its input, so that no shell parses the program's
// arguments.
type batchScripts struct{ s *Server }

// Script asks the loop for the job first: its answer is durable, so no job is submitted
// that a crash would forget.
func (b batchScripts) Script(key batch.Key, shape batch.Shape) (external.Script, error) {
	s := b.s
	r, err := s.Job(s.life, string(key.Job))
	if err != nil {
		return external.Script{}, fmt.Errorf("%w: %w", external.ErrNeverRan, err)
	}
	if r.Key() != key || r.State != site.Waiting && r.State != site.Moving && r.State != site.Held {
		return external.Script{}, fmt.Errorf("%w: the job no longer waits", external.ErrNeverRan)
	}
	values, err := s.values(r.Dossier)
	if err != nil {
		return external.Script{}, fmt.Errorf("service %s: %w", r.Service, err)
	}
	err = s.clearOutputs(&r, values.Service())
	var text []byte
	if err == nil {
		text, err = s.batchScript(key, shape, s.program(key.Job, values, shape))
	}
	if err != nil {
		s.log.Error("write of batch script failed", "job", key.Job, "error", err)
		return external.Script{}, fmt.Errorf("%w: the server could not create the job's directory",
			external.ErrNeverRan)
	}
	dir := s.data.Job(key.Job)
	log := filepath.Join(dir, string(s.cfg.Batch.Type)+"-"+journal.Name(key.Epoch, key.Attempt)+".log")
	out := external.Script{Text: text, Owner: r.Owner, Dir: dir, Stdout: log, Stderr: log}
	if script := values.Service().Script; script != nil {
		out.Extra = script.Options
	}
	if r.Needs != nil {
		out.Memory = r.Needs.Memory
	}
	return out, nil
}

// batchScript creates the script and the job's directories, which the batch system's log needs
// before the attempt starts.
func (s *Server) batchScript(key batch.Key, shape batch.Shape, p batch.Program) ([]byte, error) {
	if err := s.data.MakeAttempts(key.Job); err != nil {
		return nil, err
	}
	if err := s.data.CopyInout(s.life, key, p.Append); err != nil {
		return nil, err
	}
	spec, err := solo.Encode(s.attemptSpec(key, shape, p))
	if err != nil {
		return nil, err
	}
	program, file := cmp.Or(s.cfg.Batch.Program, s.cfg.Program), s.data.attempt(key)
	// The spec is one line that begins with a brace, so it cannot end the here-document.
	command := shellWord(program) + " attempt " + shellWord(file)
	return fmt.Appendf(nil, "#!/bin/sh\nexec %s <<'SPEC'\n%s\nSPEC\n", command, spec), nil
}

// attemptSpec is the input of `drover attempt`.
func (s *Server) attemptSpec(key batch.Key, shape batch.Shape, p batch.Program) solo.Spec {
	width := strconv.Itoa(int(shape.Width))
	env := map[string]string{"OMP_NUM_THREADS": width, "GOMAXPROCS": width}
	for _, name := range []string{"PATH", "HOME", "LANG"} {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	for name, v := range p.Env {
		env[name] = v
	}
	env["DROVER_JOB_ID"], env["DROVER_WIDTH"], env["DROVER_PROCESSORS"] = string(key.Job), width, width
	env["DROVER_WALLTIME"] = strconv.FormatInt(int64(s.cluster.Limit(shape.Walltime)/batch.Second), 10)
	var list []string
	for name, v := range env {
		list = append(list, name+"="+v)
	}
	slices.Sort(list)
	return solo.Spec{
		Args: p.Args, Env: list, Dir: p.Dir, Stdout: p.Stdout, Stderr: p.Stderr,
		System: s.cfg.external().environment, Notices: filepath.Join(s.data.notices(), external.Name(key)),
	}
}

// shellWord quotes a path for a shell.
func shellWord(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// attempt is the file of one attempt.
func (d *dataDir) attempt(key batch.Key) string {
	return filepath.Join(d.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt))
}

// attemptFiles implements external.AttemptFiles with the journals of attempts.
type attemptFiles struct{ data *dataDir }

// Read implements external.AttemptFiles.
func (f attemptFiles) Read(key batch.Key) (external.Progress, error) {
	return progressOf(journal.Read(f.data.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt)))
}

// Claim implements external.AttemptFiles, for attempts that were submitted. If their
// directory is gone, most likely the job itself removed it: the attempt counts as begun.
func (f attemptFiles) Claim(key batch.Key) (external.Progress, error) {
	if f.data.LacksAttempts(key.Job) {
		return external.Progress{Claimed: true, Began: time.Now()}, nil
	}
	return f.claim(key)
}

// claim claims an attempt for the server.
func (f attemptFiles) claim(key batch.Key) (external.Progress, error) {
	if err := os.MkdirAll(f.data.Job(key.Job), 0o700); err != nil {
		return external.Progress{}, fmt.Errorf("job directory: %w", err)
	}
	name := journal.Name(key.Epoch, key.Attempt)
	_, state, err := journal.Claim(f.data.Attempts(key.Job), name, journal.Claimer{Kind: journal.Server}, time.Now())
	return progressOf(state, err)
}

// Stop implements external.AttemptFiles.
func (f attemptFiles) Stop(key batch.Key) error { return solo.Stop(f.data.attempt(key)) }

// Notices implements external.AttemptFiles. It ignores files that are not notices.
func (f attemptFiles) Notices() ([]external.Notice, error) {
	files, err := os.ReadDir(f.data.notices())
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	var all []external.Notice
	for _, file := range files {
		name, by, _ := strings.Cut(file.Name(), ".")
		if key, ok := external.ParseName(name); ok {
			all = append(all, external.Notice{Key: key, By: by, Stopped: solo.Stopped(by)})
		}
	}
	return all, nil
}

// Forget implements external.AttemptFiles.
func (f attemptFiles) Forget(n external.Notice) error {
	return os.Remove(filepath.Join(f.data.notices(), external.Name(n.Key)+"."+n.By))
}

// progressOf translates the state of a journal. A damaged journal only proves that the
// attempt began.
func progressOf(state journal.State, err error) (external.Progress, error) {
	_, damaged := errors.AsType[*journal.DamagedError](err)
	switch {
	case damaged:
		now := time.Now()
		lost := batch.Outcome{End: batch.EndLost, Reason: "the file of its attempt is damaged"}
		return external.Progress{Claimed: true, Began: now, Ended: now, Outcome: lost}, nil
	case err != nil:
		return external.Progress{}, err
	case state.Claimer.Kind == "":
		return external.Progress{}, nil
	case state.Claimer.Kind == journal.Server, state.End.Kind == journal.Never:
		return external.Progress{Barred: true}, nil
	}
	p := external.Progress{Claimed: true}
	if state.Run.Pid != 0 {
		p.Began = state.Started
	}
	if state.End.Kind == 0 {
		return p, nil
	}
	p.Ended = state.End.At
	switch e := state.End; {
	case e.Kind == journal.Failed:
		p.Outcome = notStarted(e.Code, e.Reason)
	case e.Kind == journal.Lost:
		p.Outcome = batch.Outcome{End: batch.EndLost, Reason: e.Reason}
	case e.Kind == journal.Signaled:
		p.Outcome = batch.Outcome{End: batch.EndFailed, Signal: e.Signal, Reason: "signal " + e.Signal}
	case e.Code != 0:
		p.Outcome = batch.Outcome{End: batch.EndFailed, ExitCode: e.Code, Reason: "exit status " + strconv.Itoa(e.Code)}
	default:
		p.Outcome = batch.Outcome{End: batch.EndDone}
	}
	return p, nil
}

// recoverExternal tries to claim an attempt after a restart and reports what became of
// it. Only the claim has to be decided at once; the batch system reports the rest.
func (s *Server) recoverExternal(j *site.Job) (site.RecoveredAttempt, error) {
	f := attemptFiles{s.data}
	find := f.claim
	if j.Started != batch.Never || j.State == site.Starting && s.data.LacksAttempts(j.ID) {
		find = f.Read
	}
	p, err := find(j.Key())
	switch {
	case err != nil || p.Barred:
		return site.RecoveredAttempt{Won: err == nil}, err
	case !p.Claimed: // it may have run, and its file is gone
		return site.RecoveredAttempt{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseRunning}}, nil
	case p.Began.IsZero():
		return site.RecoveredAttempt{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseStarting}}, nil
	}
	return site.RecoveredAttempt{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseRunning, Started: p.Began}}, nil
}

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
	"github.com/seed-9b8f70bb/drover/batch/slurm"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// batchScripts makes what Slurm runs: a line that runs an order, and the order, which
// no shell reads: arguments pass through none.
type batchScripts struct{ s *Server }

// Script is slurm.Programs'. It is called by goroutines of the batch system. What
// the loop has been asked here is durable, so that nothing is submitted of a job
// that would be forgotten with a crash.
func (b batchScripts) Script(key batch.Key, shape batch.Shape) (slurm.Script, error) {
	s := b.s
	r, err := s.Job(s.life, string(key.Job))
	if err != nil {
		return slurm.Script{}, fmt.Errorf("%w: %w", slurm.ErrNeverRan, err)
	}
	if r.Key() != key || r.State != site.Waiting && r.State != site.Moving && r.State != site.Held {
		return slurm.Script{}, fmt.Errorf("%w: it waits no more", slurm.ErrNeverRan)
	}
	values, err := s.values(r.Dossier)
	if err != nil {
		return slurm.Script{}, fmt.Errorf("service %s: %w", r.Service, err)
	}
	err = s.clearOutputs(&r, values.Service())
	var text []byte
	if err == nil {
		text, err = s.batchScript(key, shape, s.program(key.Job, values, shape))
	}
	if err != nil {
		s.log.Error("what a job is to run cannot be written", "job", key.Job, "error", err)
		return slurm.Script{}, fmt.Errorf("%w: the server could not make its directory", slurm.ErrNeverRan)
	}
	dir := s.data.Job(key.Job)
	log := filepath.Join(dir, "slurm-"+journal.Name(key.Epoch, key.Attempt)+".log")
	out := slurm.Script{Text: text, Owner: r.Owner, Dir: dir, Stdout: log, Stderr: log}
	if script := values.Service().Script; script != nil {
		out.Extra = script.Options
	}
	if r.Needs != nil {
		out.Memory = r.Needs.Memory
	}
	return out, nil
}

// batchScript makes a job's directories, in which Slurm begins its log before anything of
// the attempt runs, and what an attempt runs.
func (s *Server) batchScript(key batch.Key, shape batch.Shape, p batch.Program) ([]byte, error) {
	if err := s.data.MakeAttempts(key.Job); err != nil {
		return nil, err
	}
	if err := s.data.CopyInout(s.life, key, p.Append); err != nil {
		return nil, err
	}
	order, err := solo.Encode(s.soloOrder(key, shape, p))
	if err != nil {
		return nil, err
	}
	program, file := cmp.Or(s.cfg.Batch.Program, s.cfg.Program), s.data.attempt(key)
	// An order is one line and begins with a brace: none ends it.
	return fmt.Appendf(nil, "#!/bin/sh\nexec %s attempt %s <<'ORDER'\n%s\nORDER\n", shellWord(program), shellWord(file), order), nil
}

// soloOrder is what an attempt runs.
func (s *Server) soloOrder(key batch.Key, shape batch.Shape, p batch.Program) solo.Order {
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
	env["DROVER_WALLTIME"] = strconv.FormatInt(int64(slurm.Limit(shape.Walltime)/batch.Second), 10)
	var list []string
	for name, v := range env {
		list = append(list, name+"="+v)
	}
	slices.Sort(list)
	return solo.Order{
		Args: p.Args, Env: list, Dir: p.Dir, Stdout: p.Stdout, Stderr: p.Stderr, Again: filepath.Join(s.data.again(), slurm.Name(key)),
	}
}

// shellWord makes one word of a path, for a shell.
func shellWord(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// attempt is the file of one attempt.
func (d *dataDir) attempt(key batch.Key) string {
	return filepath.Join(d.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt))
}

// witness reads the files of attempts, and makes claims.
type witness struct{ s *Server }

// Look is slurm.Witness'.
func (w witness) Look(key batch.Key) (slurm.Testimony, error) {
	state, err := journal.Read(w.s.data.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt))
	return testimony(state, err)
}

// Bar is slurm.Witness'. It is called of what was given to Slurm, so that there was a
// directory for its file: one that is gone was removed, most likely by the job itself,
// and that it has not begun cannot be said any more.
func (w witness) Bar(key batch.Key) (slurm.Testimony, error) {
	if w.s.data.LacksAttempts(key.Job) {
		return slurm.Testimony{Claimed: true, Began: time.Now()}, nil
	}
	return w.claim(key)
}

// claim makes the claim of an attempt for the server.
func (w witness) claim(key batch.Key) (slurm.Testimony, error) {
	if err := os.MkdirAll(w.s.data.Job(key.Job), 0o700); err != nil {
		return slurm.Testimony{}, fmt.Errorf("job directory: %w", err)
	}
	_, state, err := journal.Claim(w.s.data.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt), journal.Claimer{Kind: journal.Server}, time.Now())
	return testimony(state, err)
}

// Stop is slurm.Witness'.
func (w witness) Stop(key batch.Key) error { return solo.Stop(w.s.data.attempt(key)) }

// Again is slurm.Witness'. What is in the directory and not of an attempt is nobody's.
func (w witness) Again() ([]slurm.Start, error) {
	files, err := os.ReadDir(w.s.data.again())
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	var all []slurm.Start
	for _, f := range files {
		name, by, _ := strings.Cut(f.Name(), ".")
		if key, ok := slurm.Named(name); ok {
			all = append(all, slurm.Start{Key: key, By: by, Stopped: solo.Stopped(by)})
		}
	}
	return all, nil
}

// Forget is slurm.Witness'.
func (w witness) Forget(start slurm.Start) error {
	return os.Remove(filepath.Join(w.s.data.again(), slurm.Name(start.Key)+"."+start.By))
}

// testimony is what the file of an attempt says. One that is damaged says that it
// has begun, and nothing else.
func testimony(state journal.State, err error) (slurm.Testimony, error) {
	var damaged *journal.DamagedError
	switch {
	case errors.As(err, &damaged):
		now := time.Now()
		lost := batch.Outcome{End: batch.EndLost, Reason: "the file of its attempt is damaged"}
		return slurm.Testimony{Claimed: true, Began: now, Ended: now, Outcome: lost}, nil
	case err != nil:
		return slurm.Testimony{}, err
	case state.Claimer.Kind == "":
		return slurm.Testimony{}, nil
	case state.Claimer.Kind == journal.Server, state.End.Kind == journal.Never:
		return slurm.Testimony{Barred: true}, nil
	}
	t := slurm.Testimony{Claimed: true}
	if state.Run.Pid != 0 {
		t.Began = state.Started
	}
	if state.End.Kind == 0 {
		return t, nil
	}
	t.Ended = state.End.At
	switch e := state.End; {
	case e.Kind == journal.Failed:
		t.Outcome = batch.Outcome{End: batch.EndStartFailed, Reason: e.Reason}
	case e.Kind == journal.Lost:
		t.Outcome = batch.Outcome{End: batch.EndLost, Reason: e.Reason}
	case e.Kind == journal.Signaled:
		t.Outcome = batch.Outcome{End: batch.EndFailed, Signal: e.Signal, Reason: "signal " + e.Signal}
	case e.Code != 0:
		t.Outcome = batch.Outcome{End: batch.EndFailed, ExitCode: e.Code, Reason: "exit status " + strconv.Itoa(e.Code)}
	default:
		t.Outcome = batch.Outcome{End: batch.EndDone}
	}
	return t, nil
}

// foreignFate is fate where the batch system is not Drover's own: the claim is all
// that has to be settled at once, and what became of the job the batch system tells.
func (s *Server) foreignFate(j *site.Job) (site.Fate, error) {
	w := witness{s}
	find := w.claim
	if j.Started != batch.Never || j.State == site.Starting && s.data.LacksAttempts(j.ID) {
		find = w.Look
	}
	t, err := find(j.Key())
	switch {
	case err != nil || t.Barred:
		return site.Fate{Won: err == nil}, err
	case !t.Claimed: // it has run, or may have, and its file is gone
		return site.Fate{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseRunning}}, nil
	case t.Began.IsZero():
		return site.Fate{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseStarting}}, nil
	}
	return site.Fate{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseRunning, Started: t.Began}}, nil
}

package solo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// The exit codes of a Run without a program's exit code to return.
const (
	ExitFailed  = 121 // the program could not be started
	ExitClaimed = 122 // the attempt was claimed before: nothing ran
	ExitBroken  = 123 // the spec or the claim could not be read or written
)

// signals are passed on to the program. Of the others, SIGCHLD belongs to the runtime,
// and the rest cannot be caught or reach the whole process group anyway.
var signals = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGXCPU,
}

// Run reads a spec, runs its attempt unless the attempt is claimed already, and
// returns the exit code of its program: 128 plus the number of a signal, as a shell does.
// path is the attempt's file. Run writes its own messages to messages.
func Run(path string, input io.Reader, messages io.Writer) int {
	caught := make(chan os.Signal, 16)
	signal.Notify(caught, signals...)
	defer signal.Stop(caught)
	r := run{path: path, messages: messages}
	r.dir, r.name = filepath.Split(filepath.Clean(path))
	var err error
	if r.spec, err = read(input); err != nil {
		r.say("%v", err)
		return ExitBroken
	}
	claimer := journal.Claimer{Kind: journal.Supervisor, By: r.spec.startName()}
	won, state, err := journal.Claim(r.dir, r.name, claimer, time.Now())
	switch {
	case err != nil:
		r.say("%v", err)
		return ExitBroken
	case !won:
		if state.Claimer.Kind == journal.Supervisor {
			r.notify("", state.Claimer.By)
		}
		by := strings.TrimSpace(string(state.Claimer.Kind) + " " + state.Claimer.By)
		r.say("attempt already claimed by the %s, nothing runs", by)
		return ExitClaimed
	}
	me, err := process.Identify(os.Getpid())
	if err == nil {
		err = journal.AppendRun(r.dir, r.name, me, time.Now())
	}
	if err != nil {
		r.say("%v", err)
		r.recordEnd(journal.End{Kind: journal.Never, Reason: "run record: it could not be written", At: time.Now()})
		return ExitBroken
	}
	g, err := process.Start(r.spec.process())
	if err != nil {
		r.say("%v", err)
		r.recordEnd(journal.End{
			Kind: journal.Failed, Code: int(process.ErrorNumber(err)), Reason: err.Error(), At: time.Now(),
		})
		return ExitFailed
	}
	return r.follow(g, caught)
}

// run is one start of an attempt.
type run struct {
	path, dir, name string
	spec            Spec
	messages        io.Writer
}

func (r *run) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.messages, "drover: "+format+"\n", args...) // there is no other place to report to
}

// follow waits for the program, records its end and returns its exit code.
func (r *run) follow(g *process.Group, caught <-chan os.Signal) int {
	asked, over := make(chan struct{}), make(chan struct{})
	go awaitStop(r.path, stopInterval, asked, over)
	exit, stopped := await(g, caught, asked)
	close(over)
	end := journal.End{Kind: journal.Exited, Code: exit.Code, At: time.Now()}
	code := exit.Code
	if exit.Signal != 0 {
		end = journal.End{Kind: journal.Signaled, Signal: unix.SignalName(exit.Signal), At: end.At}
		code = 128 + int(exit.Signal)
	}
	if stopped {
		r.say("stopped on request: the batch system lost sight of this attempt")
		if code != 0 { // with 0 it had just completed
			reason := "it was stopped, because the batch system lost sight of it"
			end = journal.End{Kind: journal.Lost, Reason: reason, At: end.At}
		}
		r.notify(stoppedMark, "exit status "+strconv.Itoa(code))
	}
	r.recordEnd(end)
	return code
}

// stoppedMark begins the last part of the file name of a notice that the attempt
// stopped on request.
const stoppedMark = "stopped-"

// Stopped reports whether a notice, by the part of its file name after the dot, is of an
// attempt that stopped on request.
func Stopped(by string) bool { return strings.HasPrefix(by, stoppedMark) }

// notify leaves a notice for the server.
func (r *run) notify(mark, text string) {
	if r.spec.Notices == "" {
		return
	}
	if err := os.WriteFile(r.spec.Notices+"."+mark+r.spec.startName(), []byte(text+"\n"), 0o600); err != nil {
		r.say("notice for the server not written: %v", err)
	}
}

// await passes signals on until the program has ended, and ends it when asked.
func await(g *process.Group, caught <-chan os.Signal, asked <-chan struct{}) (exit process.Exit, stopped bool) {
	ended := make(chan process.Exit, 1)
	go func() { ended <- g.Wait() }()
	var late <-chan time.Time
	for {
		select {
		case exit := <-ended:
			return exit, stopped
		case <-asked:
			asked, stopped, late = nil, true, time.After(grace)
			_ = g.Signal(syscall.SIGTERM) // it may just have ended
		case <-late:
			_ = g.Signal(syscall.SIGKILL) // likewise
		case s := <-caught:
			if n, ok := s.(syscall.Signal); ok {
				_ = g.Signal(n) // likewise
			}
		}
	}
}

// recordEnd makes an end durable. It gives up after some seconds: the batch system has
// its own record.
func (r *run) recordEnd(end journal.End) {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: 100 * time.Millisecond, Multiplier: 2, MaxInterval: 10 * time.Second,
	}
	_, err := backoff.Retry(context.Background(), func() (struct{}, error) {
		err := journal.AppendEnd(r.dir, r.name, end)
		if errors.Is(err, fs.ErrNotExist) { // the program removed it
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(7))
	if err != nil {
		r.say("end of the attempt not recorded: %v", err)
	}
}

// startName names this start of an attempt, for people: host, process and job ID.
func (s *Spec) startName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), os.Getenv(s.System.ID))
}

// process returns the program, with the variables by which the batch system describes
// its nodes.
func (s *Spec) process() process.Spec {
	p := process.Spec{Args: s.Args, Env: slices.Clone(s.Env), Dir: s.Dir, Stdout: s.Stdout, Stderr: s.Stderr}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		ofSystem := s.System.Prefix != "" && strings.HasPrefix(name, s.System.Prefix)
		if ofSystem || name == "CUDA_VISIBLE_DEVICES" || name == "ROCR_VISIBLE_DEVICES" || name == "TMPDIR" {
			p.Env = append(p.Env, v)
		}
	}
	if nodes := os.Getenv(s.System.Nodes); nodes != "" {
		p.Env = append(p.Env, "DROVER_NODES="+nodes)
	}
	if filepath.Base(s.Args[0]) == s.Args[0] {
		for _, v := range s.Env {
			if list, ok := strings.CutPrefix(v, "PATH="); ok {
				p.Path = lookup(list, s.Args[0])
			}
		}
	}
	return p
}

// lookup finds a program in a list of directories; "" if it is not there, so that the
// PATH of this process decides.
func lookup(list, name string) string {
	for _, dir := range filepath.SplitList(list) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

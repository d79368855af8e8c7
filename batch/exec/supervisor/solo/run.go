package solo

import (
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

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// The exit codes of a Run that has no program's to return.
const (
	ExitFailed  = 121 // the program could not be started
	ExitClaimed = 122 // the attempt is somebody else's: nothing was run
	ExitBroken  = 123 // the order or the claim could not be read or written
)

// signals are passed on to the program. SIGCHLD is the run-time's; the others
// cannot be caught, or stop and continue the whole group anyhow.
var signals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGXCPU}

// Run runs the attempt whose order it reads, if nobody has claimed it, and returns the exit
// code of its program: 128 and the number for a signal, as a shell does. Path is the
// attempt's file. What it has to say for itself goes to messages.
func Run(path string, input io.Reader, messages io.Writer) int {
	caught := make(chan os.Signal, 16)
	signal.Notify(caught, signals...)
	defer signal.Stop(caught)
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(messages, "drover: "+format+"\n", args...) // nobody else could be told
	}
	dir, name := filepath.Split(filepath.Clean(path))
	o, err := read(input)
	if err != nil {
		say("%v", err)
		return ExitBroken
	}
	won, state, err := journal.Claim(dir, name, journal.Claimer{Kind: journal.Supervisor, By: claimer()}, time.Now())
	switch {
	case err != nil:
		say("%v", err)
		return ExitBroken
	case !won:
		if state.Claimer.Kind == journal.Supervisor {
			leave(say, &o, "", state.Claimer.By)
		}
		say("this attempt was claimed before, by the %s: nothing is run", strings.TrimSpace(string(state.Claimer.Kind)+" "+state.Claimer.By))
		return ExitClaimed
	}
	me, err := process.Identify(os.Getpid())
	if err == nil {
		err = journal.AppendRun(dir, name, me, time.Now())
	}
	if err != nil {
		say("%v", err)
		write(say, dir, name, journal.End{Kind: journal.Never, Reason: "run record: it could not be written", At: time.Now()})
		return ExitBroken
	}
	g, err := process.Start(spec(&o))
	if err != nil {
		say("%v", err)
		write(say, dir, name, journal.End{Kind: journal.Failed, Reason: err.Error(), At: time.Now()})
		return ExitFailed
	}
	told, over := make(chan struct{}), make(chan struct{})
	go listen(path, listening, told, over)
	exit, stopped := await(g, caught, told)
	close(over)
	end := journal.End{Kind: journal.Exited, Code: exit.Code, At: time.Now()}
	code := exit.Code
	if exit.Signal != 0 {
		end = journal.End{Kind: journal.Signaled, Signal: unix.SignalName(exit.Signal), At: end.At}
		code = 128 + int(exit.Signal)
	}
	if stopped {
		say("it was told to stop: the batch system has given it up")
		if code != 0 { // else it had just done what it was for
			end = journal.End{Kind: journal.Lost, Reason: "it was stopped, because the batch system had given it up", At: end.At}
		}
		leave(say, &o, stoppedMark, "exit status "+strconv.Itoa(code))
	}
	write(say, dir, name, end)
	return code
}

// stoppedMark begins the name that word of an attempt has which was told to stop.
const stoppedMark = "stopped-"

// leave leaves word for the server.
func leave(say func(string, ...any), o *Order, mark, text string) {
	if o.Again == "" {
		return
	}
	if err := os.WriteFile(o.Again+"."+mark+claimer(), []byte(text+"\n"), 0o600); err != nil {
		say("word for the server could not be written down: %v", err)
	}
}

// Stopped says whether a word, by what follows the point in its name, is of an attempt
// that was told to stop.
func Stopped(by string) bool { return strings.HasPrefix(by, stoppedMark) }

// await passes signals on until the program has ended, and ends it when told.
func await(g *process.Group, caught <-chan os.Signal, told <-chan struct{}) (exit process.Exit, stopped bool) {
	ended := make(chan process.Exit, 1)
	go func() { ended <- g.Wait() }()
	var late <-chan time.Time
	for {
		select {
		case exit := <-ended:
			return exit, stopped
		case <-told:
			told, stopped, late = nil, true, time.After(grace)
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

// write makes an end durable. The batch system has its own word of it, so that it
// is not tried for ever.
func write(say func(string, ...any), dir, name string, end journal.End) {
	var err error
	for pause := 100 * time.Millisecond; pause < 10*time.Second; pause *= 2 {
		if err = journal.AppendEnd(dir, name, end); err == nil {
			return
		}
		if errors.Is(err, fs.ErrNotExist) {
			break // the program has removed it
		}
		<-time.After(pause)
	}
	say("how it ended could not be written down: %v", err)
}

// claimer names this start of an attempt, for people.
func claimer() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), os.Getenv("SLURM_JOB_ID"))
}

// spec is the program with the variables by which the batch system tells it of its
// nodes.
func spec(o *Order) process.Spec {
	s := process.Spec{Args: o.Args, Env: slices.Clone(o.Env), Dir: o.Dir, Stdout: o.Stdout, Stderr: o.Stderr}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "SLURM") || name == "CUDA_VISIBLE_DEVICES" || name == "ROCR_VISIBLE_DEVICES" || name == "TMPDIR" {
			s.Env = append(s.Env, v)
		}
	}
	if nodes := os.Getenv("SLURM_JOB_NODELIST"); nodes != "" {
		s.Env = append(s.Env, "DROVER_NODES="+nodes)
	}
	if filepath.Base(o.Args[0]) == o.Args[0] {
		for _, v := range o.Env {
			if list, ok := strings.CutPrefix(v, "PATH="); ok {
				s.Path = lookup(list, o.Args[0])
			}
		}
	}
	return s
}

// lookup finds a program in a list of directories; "" if it is not there, so that
// this process's own PATH decides.
func lookup(list, name string) string {
	for _, dir := range filepath.SplitList(list) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

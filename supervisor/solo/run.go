package solo

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/process"
	"github.com/seed-9b8f70bb/drover/supervisor/journal"
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
		if o.Again != "" && state.Claimer.Kind == journal.Supervisor {
			if err := os.WriteFile(o.Again+"."+claimer(), []byte(state.Claimer.By+"\n"), 0o600); err != nil {
				say("that the batch system has started it again could not be written down: %v", err)
			}
		}
		say("this attempt was claimed before, by the %s %s: nothing is run", state.Claimer.Kind, state.Claimer.By)
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
	exit := await(g, caught)
	end := journal.End{Kind: journal.Exited, Code: exit.Code, At: time.Now()}
	code := exit.Code
	if exit.Signal != 0 {
		end = journal.End{Kind: journal.Signaled, Signal: unix.SignalName(exit.Signal), At: end.At}
		code = 128 + int(exit.Signal)
	}
	write(say, dir, name, end)
	return code
}

// await passes signals on until the program has ended.
func await(g *process.Group, caught <-chan os.Signal) process.Exit {
	ended := make(chan process.Exit, 1)
	go func() { ended <- g.Wait() }()
	for {
		select {
		case exit := <-ended:
			return exit
		case s := <-caught:
			if n, ok := s.(syscall.Signal); ok {
				_ = g.Signal(n) // it may just have ended
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

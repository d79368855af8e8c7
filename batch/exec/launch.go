package exec

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// Launcher launches programs. Launch may take long; each attempt has its own goroutine for
// it. Its error text goes to the job's owner, so it must not contain a path of the server.
//
// Launch is not cancelled when the system closes: Close waits for it, so Launch should end by
// itself when the server stops.
//
// An error means that the program does not run and never will. If it wraps ErrNeverRan, the
// program was not the cause.
type Launcher interface {
	Launch(spec Spec) (Launched, error)
}

// Launched is a program that was launched, with all processes it starts.
type Launched interface {
	// Signal sends sig to all of its processes. If the program has already ended, Signal
	// returns os.ErrProcessDone and sends nothing. The loop calls it and blocks until it
	// returns.
	Signal(sig syscall.Signal) error
	// Wait returns when all processes are gone. It is called once.
	Wait() Exit
}

// Detacher is a Launched that can be left running without a caller in Wait; see
// System.Release.
type Detacher interface {
	// Detach makes Wait return at once, with Exit.Detached unless the program had ended
	// before. It is idempotent.
	Detach()
}

// Sharer is a Launched with shares that can be changed while it runs.
type Sharer interface {
	// SetShares enforces the shares of an allocation. If that names other virtual nodes of the
	// same host, the program moves there. It is idempotent. The loop calls it and must not
	// block: an implementation that needs the network stores the last allocation and applies
	// it later.
	SetShares(allocation []batch.NodeAllocation) error
}

// ErrNodeGone is wrapped by the error of a launch that ran nothing, and never will, because
// one of its nodes has left: the attempt is queued again at its former position.
var ErrNodeGone = errors.New("one of its nodes has left")

// ErrNeverRan is wrapped by the error of a launch that provably ran nothing although a new
// attempt may succeed: the attempt ends as batch.EndNeverRan. Any other error would recur,
// and ends it as batch.EndStartFailed.
var ErrNeverRan = errors.New("it never ran")

// ErrHostFault is wrapped, beside ErrNeverRan, if the host lacked something that every launch needs,
// as open files, memory or disk space: the attempt does not count.
var ErrHostFault = errors.New("the host lacks a resource")

// ExecuteError is the error of a launch whose program could not be executed.
type ExecuteError struct {
	Errno  syscall.Errno // 0 if unknown
	Reason string        // public message
}

// Error returns the reason.
func (e *ExecuteError) Error() string { return e.Reason }

// Spec is what a Launcher launches.
type Spec struct {
	Key        batch.Key              // the attempt
	Shape      batch.Shape            // it is started with
	Allocation []batch.NodeAllocation // with the share of a processor that each task has
	Launch     batch.Launch           // how many processes
	// Memory is the declared need of each task in bytes; 0 is unknown. Groups, if not nil,
	// declare it for each group of Allocation.
	Memory int64
	Groups []batch.TaskGroup

	Args   []string // argument vector; Args[0] is looked up in the server's PATH
	Env    []string // the whole environment, NAME=value, ascending
	Dir    string   // working directory, created if it does not exist
	Stdout string   // file, truncated, with its parents created; "" discards
	Stderr string   // as Stdout; may be the same file
	Append bool     // do not truncate
}

// Exit describes how a program ended.
type Exit struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // that ended the program, or 0
	// Lost: the program is gone and its exit was not observed. Code and Signal are
	// meaningless.
	Lost bool
	// Reason is a public message: why the program is lost, or detail about a failure beside
	// Code and Signal.
	Reason string
	// Unsignaled: the program had ended before any signal reached it, so no signal was the cause.
	Unsignaled bool
	// Detached: the program may still run, but this Launched no longer follows it. The other
	// fields are meaningless.
	Detached bool
}

// Programs provides the programs of attempts. The goroutine of an attempt calls it at the
// launch, with the final shape, so a waiting job needs no arguments yet.
type Programs interface {
	// Program returns the program of an attempt for a shape. An error ends the attempt like
	// one of Launcher.Launch, and must not contain a path of the server either.
	Program(key batch.Key, shape batch.Shape) (batch.Program, error)
}

// launchSpec is the input of an attempt's goroutine.
type launchSpec struct {
	key        batch.Key
	shape      batch.Shape
	allocation []batch.NodeAllocation
	memory     int64
	groups     []batch.TaskGroup
}

// launchSpecOf returns the launchSpec of an attempt that has its allocation.
func launchSpecOf(a *attempt) launchSpec {
	return launchSpec{a.key, a.shape, a.run.ran, a.job.Memory, a.job.Groups}
}

// execute is the goroutine of a started attempt.
func (s *System) execute(a *attempt, l launchSpec) {
	proc, how, err := s.launch(&l)
	if err != nil {
		s.send(note{attempt: a, err: err})
		return
	}
	if !s.send(note{attempt: a, proc: proc, how: how, allocation: l.allocation}) {
		detach(proc)
	}
	s.follow(a, proc)
}

// follow waits for the end of an attempt; it is the goroutine of an adopted one.
func (s *System) follow(a *attempt, proc Launched) {
	s.send(note{attempt: a, exit: proc.Wait()})
}

// send passes a note to the loop, and returns false when the loop has ended.
func (s *System) send(n note) bool {
	select {
	case s.notes <- n:
		return true
	case <-s.done:
		return false
	}
}

func (s *System) launch(l *launchSpec) (Launched, *batch.Checkpoint, error) {
	program, err := s.programs.Program(l.key, l.shape)
	if err != nil {
		return nil, nil, err
	}
	if err := checkProgram(&program); err != nil {
		return nil, nil, fmt.Errorf("program: %w", err)
	}
	proc, err := s.launcher.Launch(s.spec(l, &program))
	return proc, program.Checkpoint, err
}

// checkProgram refuses a program that no launcher can start.
func checkProgram(p *batch.Program) error {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return fmt.Errorf("args: empty, accepted: a command and its arguments")
	}
	for name, value := range p.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf("env: %q, accepted: names without = and values without NUL", name)
		}
	}
	for i := range p.Args {
		if strings.Contains(p.Args[i], "\x00") {
			return fmt.Errorf("args[%d]: contains NUL", i)
		}
	}
	return checkCheckpoint(p.Checkpoint)
}

// environment is the subset of the server's own variables that programs get.
type environment map[string]string

func serverEnvironment(lookup func(string) (string, bool)) environment {
	env := make(environment)
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := lookup(name); ok {
			env[name] = value
		}
	}
	return env
}

func nodeNames(p batch.Platform) []string {
	names := make([]string, len(p.Nodes))
	for i := range p.Nodes {
		names[i] = p.Nodes[i].Name
		if names[i] == "" {
			names[i] = "n" + strconv.Itoa(i+1)
		}
	}
	return names
}

// nodesOf names the nodes of an allocation, each once, in order.
func (s *System) nodesOf(allocation []batch.NodeAllocation) []string {
	if len(allocation) == 0 {
		return nil
	}
	names := make([]string, 0, len(allocation))
	for i := range allocation {
		if name := s.names[allocation[i].Node]; i == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// spec builds the Spec of an attempt that has its allocation.
func (s *System) spec(l *launchSpec, p *batch.Program) Spec {
	dir := p.Dir
	if s.dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, dir)
	}
	in := func(file string) string {
		if file == "" || filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(dir, file)
	}
	return Spec{
		Key: l.key, Shape: l.shape, Allocation: l.allocation, Launch: p.Launch, Memory: l.memory, Groups: l.groups,
		Args: p.Args, Env: s.variables(l, p.Env),
		Dir: dir, Stdout: in(p.Stdout), Stderr: in(p.Stderr), Append: p.Append,
	}
}

// variables returns the whole environment of an attempt. A program may set its own thread
// counts, but not the variables that Drover sets about the job.
func (s *System) variables(l *launchSpec, own environment) []string {
	width := strconv.Itoa(int(l.shape.Width))
	env := environment{"OMP_NUM_THREADS": width, "GOMAXPROCS": width}
	for _, more := range []environment{s.env, own, {
		"DROVER_JOB_ID":     string(l.key.Job),
		"DROVER_WIDTH":      width,
		"DROVER_WALLTIME":   strconv.FormatInt(int64(l.shape.Walltime.CeilSeconds()/batch.Second), 10),
		"DROVER_NODES":      s.nodeList(l.allocation),
		"DROVER_PROCESSORS": strconv.Itoa(int(tasks(l.allocation))),
	}} {
		for name, value := range more {
			env[name] = value
		}
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// nodeList formats an allocation as name:count,name:count.
func (s *System) nodeList(allocation []batch.NodeAllocation) string {
	var b strings.Builder
	for i := 0; i < len(allocation); {
		node, n := allocation[i].Node, int32(0)
		for ; i < len(allocation) && allocation[i].Node == node; i++ {
			n += allocation[i].Processors
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.names[node] + ":" + strconv.Itoa(int(n)))
	}
	return b.String()
}

func tasks(allocation []batch.NodeAllocation) int32 {
	var n int32
	for i := range allocation {
		n += allocation[i].Processors
	}
	return n
}

// processes launches real process groups, as children of this process.
type processes struct{ log hclog.Logger }

func (p processes) Launch(spec Spec) (Launched, error) {
	g, err := process.Start(process.Spec{
		Args: spec.Args, Env: spec.Env, Dir: spec.Dir, Stdout: spec.Stdout, Stderr: spec.Stderr, Append: spec.Append,
	})
	if err != nil {
		var start *process.StartError
		if errors.As(err, &start) {
			p.log.Debug("launch failed", "part", start.Part, "error", start.Err)
		}
		return nil, err
	}
	return group{Group: g, log: p.log}, nil
}

// group adapts a process group to Launched.
type group struct {
	*process.Group
	log hclog.Logger
}

func (g group) Wait() Exit {
	exit := g.Group.Wait()
	if exit.Left {
		g.log.Error("killed process group still exists, freeing its processors", "waited", process.GoneWait)
	}
	return Exit{Code: exit.Code, Signal: exit.Signal}
}

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

// Launcher starts programs. Launch may take long and is called from a goroutine
// of its own for each attempt. Its error text goes to the job's owner: it names
// no path of the server.
//
// Nothing tells a Launch under way that the system closes: Close waits for it, so
// it had better end by itself when the server stops.
//
// An error says that the program does not run and never will. One that wraps
// ErrNeverRan says besides that this was no fault of the program.
type Launcher interface {
	Launch(spec Spec) (Launched, error)
}

// Launched is a program that was started, with everything it starts itself.
type Launched interface {
	// Signal sends sig to all of it. It returns os.ErrProcessDone, and sends
	// nothing, when the program has already ended. It is called by the loop, and
	// everything else waits until it returns.
	Signal(sig syscall.Signal) error
	// Wait returns when nothing of it is left. It is called once.
	Wait() Exit
}

// Detacher is a Process that can be left running without anybody who waits for
// it; see System.Release.
type Detacher interface {
	// Detach makes Wait return at once, with Exit.Detached unless the process had
	// ended before. Repeated, it does nothing.
	Detach()
}

// Sharer is a Process that can be held to what it is given of each node while it
// runs.
type Sharer interface {
	// SetShares holds it to the allocation, which may name other virtual nodes of the same
	// host than before: then it goes on there. Repeated, it does nothing. It is called
	// by the loop, which does not wait for anything that takes long: whoever has to go
	// over a network keeps the last ones and does so later.
	SetShares(allocation []batch.NodeAllocation) error
}

// ErrNodeGone is wrapped by the error of a launch that ran nothing, and never will,
// because a node that it was for has left meanwhile: the attempt waits again, at its
// old place.
var ErrNodeGone = errors.New("a node that it was to run on has left")

// ErrNeverRan is wrapped by the error of a launch that provably ran nothing,
// where a new attempt may: the attempt ends as batch.EndNeverRan. Any other error
// would come again, and ends it as batch.EndStartFailed.
var ErrNeverRan = errors.New("it never ran")

// Spec is a program with everything it is told.
type Spec struct {
	Key        batch.Key              // the attempt
	Shape      batch.Shape            // with which it is started
	Allocation []batch.NodeAllocation // and where, with the share of a processor that each task has
	Launch     batch.Launch           // how often
	// Memory is what each task was said to need, in bytes; 0 is not known. Groups, if not
	// nil, say so for each group of Places.
	Memory int64
	Groups []batch.TaskGroup

	Args   []string // argument vector; Args[0] is looked up in the server's PATH
	Env    []string // the whole environment, NAME=value, ascending
	Dir    string   // working directory, made if it is not there
	Stdout string   // file, truncated, with its parents made; "" discards
	Stderr string   // likewise; may be the same file
	Append bool     // nothing is truncated
}

// Exit is how a process ended.
type Exit struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // that ended it, or 0
	// Lost: it is gone, but nobody has seen how it ended. Code and Signal mean nothing.
	Lost bool
	// Reason, for people: why it is lost; of another failure, what is known of it beside
	// Code and Signal.
	Reason string
	// Unheard: it had ended before any signal reached it. So it was none of those that
	// ended it.
	Unheard bool
	// Detached: it may still run, but this Process does not follow it any more.
	// The rest means nothing.
	Detached bool
}

// Programs says what attempts run. It is asked when an attempt is launched, by
// the goroutine of that attempt, about the shape that it got in the end: so jobs
// that wait need no arguments yet.
type Programs interface {
	// Program returns what an attempt runs with a shape. An error ends the attempt
	// as one of Launcher.Launch does, and likewise names no path of the server.
	Program(key batch.Key, shape batch.Shape) (batch.Program, error)
}

// launchSpec is what the goroutine of an attempt is told.
type launchSpec struct {
	key        batch.Key
	shape      batch.Shape
	allocation []batch.NodeAllocation
	memory     int64
	groups     []batch.TaskGroup
}

// toLaunch returns that of an attempt that has its allocation.
func toLaunch(a *attempt) launchSpec {
	return launchSpec{a.key, a.shape, a.run.ran, a.job.Memory, a.job.Groups}
}

// execute is the goroutine of an attempt that is started.
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

// follow is the rest of it, and the goroutine of an attempt that was adopted.
func (s *System) follow(a *attempt, proc Launched) {
	s.send(note{attempt: a, exit: proc.Wait()})
}

// send tells the loop, and returns false when it has ended.
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

// checkProgram refuses what no launcher could start.
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

// environment is what programs get of the server's own variables.
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

// nodesOf names the nodes of allocation, each once, in order.
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

// spec makes what is launched of an attempt that has its allocation.
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

// variables returns the whole environment of an attempt. A program may set its
// own thread counts, but not what Drover says about the job.
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

// nodeList writes allocation as name:count,name:count.
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

// processes launches real process groups, children of this process.
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

// group is a process group as the loop wants it.
type group struct {
	*process.Group
	log hclog.Logger
}

func (g group) Wait() Exit {
	exit := g.Group.Wait()
	if exit.Left {
		g.log.Error("killed process group does not disappear, giving its processors back", "waited", process.GoneWait)
	}
	return Exit{Code: exit.Code, Signal: exit.Signal}
}

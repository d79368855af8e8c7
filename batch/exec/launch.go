package exec

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

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

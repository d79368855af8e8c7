package exec

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch"
)

// mode makes the test binary run as one of the tests' programs.
const (
	mode  = "EXEC_TEST_MODE"
	ready = "EXEC_TEST_READY" // a FIFO that receives the process numbers
)

func TestMain(m *testing.M) {
	if as := os.Getenv(mode); as != "" {
		// Exit at once: the race detector and the coverage tool would change outputs and
		// times at the end of a program.
		syscall.Exit(program(as))
	}
	goleak.VerifyTestMain(m)
}

// program runs the program of a mode and returns its exit code.
func program(as string) int {
	switch as {
	case "print":
		fmt.Println("to stdout", strings.Join(os.Args[1:], "|"))
		fmt.Fprintln(os.Stderr, "to stderr")
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "exit":
		code, _ := strconv.Atoi(os.Args[1])
		return code
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		block()
	case "stubborn": // ignores SIGTERM, as does its child
		signal.Ignore(syscall.SIGTERM)
		tell(os.Getpid(), child())
		block()
	case "polite": // ends on SIGTERM, its child does not
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM)
		tell(os.Getpid(), child())
		<-got
	case "ward": // ends with 7 when its child does, which SIGTERM ends
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
		cmd, pid := startChild("plain")
		tell(os.Getpid(), pid)
		_ = cmd.Wait()
		return 7
	case "leave": // ends at once, its child does not
		tell(os.Getpid(), child())
	case "child", "plain":
		if as == "child" {
			signal.Ignore(syscall.SIGTERM)
		}
		fmt.Println("set up")
		block()
	}
	return 0
}

// block waits longer than any test, but not forever, so that a program that a broken
// executor left behind ends.
func block() { <-time.After(5 * time.Minute) }

// child starts a process that ignores SIGTERM, and returns its number after it does.
func child() int {
	_, pid := startChild("child")
	return pid
}

func startChild(as string) (*osexec.Cmd, int) {
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), mode+"="+as)
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		panic(err)
	}
	return cmd, cmd.Process.Pid
}

func tell(pids ...int) {
	if err := os.WriteFile(os.Getenv(ready), []byte(fmt.Sprintln(pids[0], pids[1])), 0o600); err != nil {
		panic(err)
	}
}

// untilReady is a launcher that returns when the program has reported that it is ready, so no
// test depends on the duration of a start.
type untilReady struct {
	fifo string
	pids chan [2]int
}

func newUntilReady(t *testing.T) *untilReady {
	fifo := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return &untilReady{fifo: fifo, pids: make(chan [2]int, 8)}
}

func (l *untilReady) Launch(spec Spec) (Launched, error) {
	proc, err := processes{}.Launch(spec)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(l.fifo)
	if err != nil {
		return nil, err
	}
	var pids [2]int
	if _, err := fmt.Sscan(string(text), &pids[0], &pids[1]); err != nil {
		return nil, err
	}
	l.pids <- pids
	return proc, nil
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	state := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
	return state != "Z" && state != "X"
}

// machine has two nodes of two processors.
var machine = batch.Platform{Nodes: []batch.Node{{Name: "n1", Processors: 2}, {Name: "n2", Processors: 2}}}

// open opens a system on the machine and closes it at the end of the test.
func open(t testing.TB, c Config) *System {
	t.Helper()
	if c.Platform.Nodes == nil {
		c.Platform = machine
	}
	if c.Policy == nil {
		c.Policy = newToy(c.Platform.Width())
	}
	if c.Programs == nil {
		c.Programs = &shelf
	}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func key(name string) batch.Key { return batch.Key{Job: batch.JobID(name), Epoch: 1, Attempt: 1} }

// programs holds the programs of the jobs of all tests, the latest of each name.
type programs struct {
	mu  sync.Mutex
	all map[batch.Key]batch.Program
}

var shelf = programs{all: make(map[batch.Key]batch.Program)}

func (p *programs) put(key batch.Key, run batch.Program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[key] = run
}

func (p *programs) Program(key batch.Key, _ batch.Shape) (batch.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key.Attempt = 1
	return p.all[key], nil
}

func (p *programs) of(cmd batch.Command) batch.Program {
	run, _ := p.Program(cmd.Key, batch.Shape{})
	return run
}

// submission returns the submission of a job with a walltime of an hour.
func submission(name string, width int32, run batch.Program) batch.Command {
	shelf.put(key(name), run)
	return batch.Command{
		Kind: batch.CmdSubmit, Key: key(name),
		Job: &batch.Job{Shape: batch.Shape{Width: width, Walltime: batch.Hour}, Name: name},
	}
}

func order(kind batch.CommandKind, name string) batch.Command {
	return batch.Command{Kind: kind, Key: key(name)}
}

// self returns the test binary in the given mode.
func self(as string, args ...string) batch.Program {
	return batch.Program{Args: append([]string{os.Args[0]}, args...), Env: map[string]string{mode: as}}
}

func do(t testing.TB, s *System, cmds ...batch.Command) {
	t.Helper()
	if err := s.Do(context.Background(), cmds); err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, s *System, name string) batch.Found {
	t.Helper()
	found, err := s.Find(context.Background(), []batch.Key{key(name)})
	if err != nil || len(found) != 1 {
		t.Fatalf("find %s: %v, %v", name, found, err)
	}
	return found[0]
}

// await waits until the attempt is in the phase.
func await(t testing.TB, s *System, name string, phase batch.Phase) batch.Found {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var at batch.Cursor
	for {
		got, err := s.Watch(ctx, at)
		if err != nil {
			t.Fatalf("waiting for %s: %v", name, err)
		}
		for _, f := range got.Jobs {
			if f.Key == key(name) && f.Phase == phase {
				return f
			}
		}
		at = got.Next
	}
}

// fakes is a launcher of programs that end on a message of the test or on SIGKILL.
type fakes struct{ launched chan *fake }

type fake struct {
	spec Spec
	end  chan Exit // buffered
	mu   sync.Mutex
	gone bool
	got  []syscall.Signal
}

func newFakes() fakes { return fakes{launched: make(chan *fake, 1024)} }

func (l fakes) Launch(spec Spec) (Launched, error) {
	p := &fake{spec: spec, end: make(chan Exit, 1)}
	l.launched <- p
	return p, nil
}

func (p *fake) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return os.ErrProcessDone
	}
	p.got = append(p.got, sig)
	if sig == syscall.SIGKILL {
		select {
		case p.end <- Exit{Signal: sig}:
		default:
		}
	}
	return nil
}

func (p *fake) Wait() Exit {
	exit := <-p.end
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	return exit
}

func (p *fake) signals() []syscall.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

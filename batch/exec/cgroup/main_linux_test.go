package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary also runs as the programs in the groups.
func TestMain(m *testing.M) {
	if role := os.Getenv("CGROUP_TEST_ROLE"); role != "" {
		play(role)
		return
	}
	goleak.VerifyTestMain(m)
}

func play(role string) {
	name, rest, _ := strings.Cut(role, " ")
	bufio.NewScanner(os.Stdin).Scan() // until it has been added
	switch name {
	case "spin":
		threads, _ := strconv.Atoi(rest)
		for range threads - 1 {
			go spin()
		}
		spin()
	case "hold": // allocates memory and reports it
		size, _ := strconv.Atoi(rest)
		block := make([]byte, size)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		fmt.Println("held")
		bufio.NewScanner(os.Stdin).Scan()
		fmt.Fprintln(os.Stderr, block[len(block)-1])
	case "leave": // forks away into a new session, and prints its number
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "CGROUP_TEST_ROLE=spin 1")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(child.Process.Pid)
		_ = child.Wait()
	case "flee": // replaces itself by a child, repeatedly
		_ = syscall.Exec("/bin/sh",
			[]string{"sh", "-c", "f() { i=0; while [ $i -lt 100 ]; do i=$((i+1)); done; f & }; f"}, os.Environ())
	case "brood": // starts short-lived children one after another
		for {
			_ = exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").Run()
		}
	}
}

func spin() {
	for i := uint64(0); ; i++ {
		if i&(1<<40) != 0 {
			return
		}
	}
}

// program is a process of a test that leads its process group.
type program struct {
	*exec.Cmd
	in    *os.File
	lines *bufio.Scanner
}

// start starts a program that waits for its release.
func start(t testing.TB, role string) *program {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CGROUP_TEST_ROLE="+role, "GOGC=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = r
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	p := &program{Cmd: cmd, in: w, lines: bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it can have ended
		_ = cmd.Wait()                                      // it was killed
		_ = w.Close()
	})
	return p
}

func (p *program) pid() int { return p.Process.Pid }

func (p *program) letGo(t testing.TB) {
	t.Helper()
	if _, err := p.in.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
}

func (p *program) line(t testing.TB) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the program said nothing: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// signals holds the abilities to disable so that only signals remain.
var signals = []Ability{Shares, Processors, Memory, Pausing, Killing, Measuring}

// ways holds the kinds of hosts that this machine can act as, by their way to enforce
// shares.
var ways = []struct {
	name    string
	without []Ability
	shares  []Way
	old     bool // hide the second version
}{
	{"quota", []Ability{Memory}, []Way{V1, V2}, false},
	{"first version", []Ability{Memory}, []Way{V1}, true},
	{"freezer", []Ability{Shares, Processors, Memory}, []Way{Duty}, false},
	{"signals", signals, []Way{Signals}, false},
}

// oldProc returns a directory like /proc of this process, without the second version of
// control groups.
func oldProc(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "self"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mountinfo", "cgroup"} {
		text, err := os.ReadFile("/proc/self/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var old strings.Builder
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, " - cgroup2 ") {
				old.WriteString(line)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "self", name), []byte(old.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// host opens a host that removes its groups at the end of the test.
func host(t testing.TB, without ...Ability) *Host {
	t.Helper()
	return hostOf(t, "/proc", without...)
}

func hostOf(t testing.TB, proc string, without ...Ability) *Host {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, t.Name())
	name = fmt.Sprintf("test-%d-%s", os.Getpid(), name[:min(len(name), 60)])
	h, err := detect(Config{Name: name, Without: without}, files{}, proc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		names, err := h.List()
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			g, err := h.Find(name)
			if err != nil {
				t.Error(err)
				continue
			}
			end(t, g)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		for _, tree := range h.trees {
			if _, err := os.Stat(tree.base); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", tree.base, err)
			}
		}
	})
	return h
}

func end(t testing.TB, g *Group) {
	t.Helper()
	if err := g.Kill(within(t, 10*time.Second)); err != nil {
		t.Error(err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

func need(t testing.TB, h *Host, abilities ...Ability) {
	t.Helper()
	for _, a := range abilities {
		if w := h.Offers().Of(a); w != V1 && w != V2 {
			t.Skipf("no control group for it: %s", h.Offers()[a])
		}
	}
}

func newTestGroup(t testing.TB, h *Host, name string) *Group {
	t.Helper()
	g, err := h.Make(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// run adds a program to a group and releases it.
func run(t testing.TB, g *Group, role string) *program {
	t.Helper()
	p := start(t, role)
	if err := g.Add(p.pid()); err != nil {
		t.Fatal(err)
	}
	p.letGo(t)
	return p
}

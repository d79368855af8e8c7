package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// TestDemo runs the real program. Each case has the program under a path of its
// own, which identifies its processes.
func TestDemo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this test finds processes in /proc")
	}
	program := buildDrover(t)
	copied := func(t *testing.T) string { return linked(t, program) }

	t.Run("ends by itself and leaves nothing", func(t *testing.T) {
		t.Parallel()
		program, out, temp := copied(t), filepath.Join(t.TempDir(), "results"), t.TempDir()
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, "--json", "demo", "--quick", "--out", out)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s%s", err, stderr.String(), stdout.String())
		}
		if left := processesOf(t, program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
		var v struct {
			demoSummary
			Decision struct {
				Candidates []json.RawMessage
			} `json:"decision"`
		}
		if err := json.Unmarshal(stdout.Bytes(), &v); err != nil {
			t.Fatalf("%v: %s", err, stdout.String())
		}
		placed := 0
		for _, s := range v.Sites {
			placed += s.Jobs
		}
		if v.Jobs != demoQuick.jobs || v.Done != v.Jobs || placed != v.Jobs || len(v.Sites) != 3 {
			t.Errorf("summary: %s", stdout.String())
		}
		if c := v.Checks; c.Solutions == 0 || c.Pictures == 0 || !(c.ResidualMax < worstResidual) ||
			len(c.Problems) > 0 || len(c.Saved) != 2 {
			t.Errorf("checks: %+v", c)
		}
		if len(v.Decision.Candidates) != 3 {
			t.Errorf("decision: %+v", v.Decision)
		}
		if stderr.Len() > 0 {
			t.Errorf("stderr: %s", stderr.String())
		}
		if kept, err := os.ReadDir(out); err != nil || len(kept) != 2 {
			t.Errorf("results: %v, %v", kept, err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
	})

	t.Run("killed, takes its processes along", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, copied(t), "demo", "--jobs", "30")
		d.until("sleep")
		members := processesOf(t, d.program)
		if len(members) < 5 {
			t.Fatalf("processes: %v", members)
		}
		if err := d.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = d.cmd.Wait()
		d.gone()
	})

	t.Run("interrupted, stops the grid", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, copied(t), "demo")
		d.until("sleep")
		d.signal(syscall.SIGINT)
		if code := d.end(); code != cmdline.ExitInterrupted {
			t.Errorf("exit code %d: %s", code, d.errOut)
		}
		if left := processesOf(t, d.program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})

	t.Run("fails when a site dies", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, copied(t), "demo", "--quick", "--jobs", "1", "--keep")
		d.until("--agent")
		for pid, line := range processesOf(t, d.program) {
			if strings.Contains(line, "nancy.yaml") {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
		}
		if code := d.end(); code != cmdline.ExitFailure ||
			!strings.HasSuffix(d.errOut, "drover: nancy has ended: signal: killed\n") {
			t.Errorf("exit code %d: %s", code, d.errOut)
		}
		if left := processesOf(t, d.program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})

	t.Run("keeps the grid up until interrupted", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, copied(t), "demo", "--quick", "--jobs", "3", "--keep")
		line := d.until("--agent")
		words := strings.Fields(line)
		out, err := exec.CommandContext(t.Context(), d.program, "--agent", words[slices.Index(words, "--agent")+1],
			"sites").Output()
		if err != nil || strings.Count(string(out), "cbf") != 2 || strings.Count(string(out), "easy") != 1 {
			t.Errorf("sites: %v: %s", err, out)
		}
		d.signal(syscall.SIGTERM)
		if code := d.end(); code != cmdline.ExitOK {
			t.Errorf("exit code %d: %s", code, d.errOut)
		}
		if left := processesOf(t, d.program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})
}

// linked gives a program its own path.
func linked(t *testing.T, program string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drover")
	if err := os.Link(program, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// buildDrover builds the program, with the race detector when the test has it.
func buildDrover(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drover")
	args := []string{"build", "-o", path}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings,
		debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// processesOf returns the command lines of the processes that run the program at a path, by
// process ID.
func processesOf(t *testing.T, program string) map[int]string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[int]string)
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != program {
			continue // an ended process has no target
		}
		dir := filepath.Dir(link)
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, bad := strconv.Atoi(filepath.Base(dir))
		if err == nil && bad == nil {
			found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

// runningDemo is a demo whose output is read line by line.
type runningDemo struct {
	t       *testing.T
	program string
	cmd     *exec.Cmd
	lines   *bufio.Scanner // of both streams
	errOut  string         // all that has been read
}

func startDemo(t *testing.T, program string, args ...string) *runningDemo {
	t.Helper()
	return startDemoAs(t, nil, program, args...)
}

// startDemoAs starts a demo with process attributes, for example as another user.
func startDemoAs(t *testing.T, as *syscall.SysProcAttr, program string, args ...string) *runningDemo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // far more than any case takes
	t.Cleanup(cancel)
	d := &runningDemo{t: t, program: program, cmd: exec.CommandContext(ctx, program, args...)}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d.cmd.Stdout, d.cmd.Stderr = write, write
	temp := t.TempDir()
	if as != nil {
		d.cmd.SysProcAttr = as
		handOver(t, temp, as.Credential)
	}
	d.cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	d.lines = bufio.NewScanner(read)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		_ = read.Close()
		d.gone()
	})
	return d
}

// until reads up to a line that contains the word.
func (d *runningDemo) until(word string) string {
	d.t.Helper()
	for d.lines.Scan() {
		line := d.lines.Text()
		d.errOut += line + "\n"
		if strings.Contains(line, word) {
			return line
		}
	}
	d.t.Fatalf("%q is not in %s", word, d.errOut)
	return ""
}

func (d *runningDemo) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// end waits for the demo and returns its exit code.
func (d *runningDemo) end() int {
	d.t.Helper()
	for d.lines.Scan() {
		d.errOut += d.lines.Text() + "\n"
	}
	err := d.cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return cmdline.ExitOK
}

// gone waits until all processes of the demo's program have ended.
func (d *runningDemo) gone() {
	d.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var left map[int]string
	for range 1000 {
		if left = processesOf(d.t, d.program); len(left) == 0 {
			return
		}
		<-ticker.C
	}
	d.t.Errorf("processes left: %v", left)
}

// handOver changes the owner of a directory of t.TempDir.
func handOver(t *testing.T, dir string, to *syscall.Credential) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, int(to.Uid), int(to.Gid)); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// TestSharedDemo runs the real program, as TestDemo does.
func TestSharedDemo(t *testing.T) {
	program := buildDrover(t)

	t.Run("ends by itself, passes its checks and leaves nothing", func(t *testing.T) {
		t.Parallel()
		program, temp := linked(t, program), t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // slow on a busy host
		defer cancel()
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, program, "--json", "demo", "--policy", "dfrs", "--quick")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s%s", err, stderr.String(), stdout.String())
		}
		var v sharedSummary
		if err := json.Unmarshal(stdout.Bytes(), &v); err != nil {
			t.Fatalf("%v: %s", err, stdout.String())
		}
		if v.Policy != "dfrs" || v.Nodes != sharedNodes() || len(v.Jobs) != 3*v.Nodes+2 || len(v.Ways) == 0 {
			t.Errorf("summary: %s", stdout.String())
		}
		for i, name := range []string{"done", "shares", "late", "yields", "space"} {
			if i >= len(v.Checks) || v.Checks[i].Name != name {
				t.Fatalf("checks: %+v", v.Checks)
			}
			c := v.Checks[i]
			t.Logf("%s: %s: %s", c.Name, c.Result, c.Text)
			unjudged := c.Result == checkUnknown && strings.Contains(c.Text, "this host is busy")
			if c.Result != checkPassed && !unjudged {
				t.Errorf("%s: %s: %s", c.Name, c.Result, c.Text)
			}
		}
		if stderr.Len() > 0 {
			t.Errorf("stderr: %s", stderr.String())
		}
		if left := processesOf(t, program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
	})

	t.Run("interrupted, ends its jobs", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, linked(t, program), "demo", "--policy", "dfrs")
		for range sharedNodes() {
			d.until("runs on")
		}
		sieving := 0
		for _, line := range processesOf(t, d.program) {
			if strings.Contains(line, "service primes") {
				sieving++
			}
		}
		if sieving < sharedNodes() {
			t.Errorf("%d jobs run: %s", sieving, d.errOut)
		}
		d.signal(syscall.SIGINT)
		if code := d.end(); code != cmdline.ExitInterrupted {
			t.Errorf("exit code %d: %s", code, d.errOut)
		}
		if left := processesOf(t, d.program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})

	t.Run("as a user without rights, shares by signals and says so", func(t *testing.T) {
		t.Parallel()
		if os.Getuid() != 0 {
			t.Skip("only root can change the user")
		}
		nobody := &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}
		program := linked(t, program)
		handOver(t, filepath.Dir(program), nobody)
		d := startDemoAs(t, &syscall.SysProcAttr{Credential: nobody}, program, "demo", "--policy", "dfrs")
		if line := d.until("enforced by"); !strings.Contains(line, "shares=signals") ||
			!strings.HasSuffix(line, "stopped and continued by signals") {
			t.Error(line)
		}
		d.until("#3 0.500") // so it has gone down
		d.signal(syscall.SIGTERM)
		if code := d.end(); code != cmdline.ExitInterrupted {
			t.Errorf("exit code %d: %s", code, d.errOut)
		}
		if left := processesOf(t, d.program); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})
}

package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

func connectLeased(t testing.TB, dir string) *Client {
	t.Helper()
	c, err := Connect(Config{
		Dir: dir, Leased: true, Logger: hclog.New(&hclog.LoggerOptions{Output: testLog{t}, Level: hclog.Debug}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		awaitFree(t, dir)
	})
	return c
}

// hold renews the lease once and returns a token.
func hold(t testing.TB, c *Client, d time.Duration) attempt.Token {
	t.Helper()
	token, _, err := c.Renew(t.Context(), nil, d)
	if err != nil {
		t.Fatal(err)
	}
	next, held, err := c.Renew(t.Context(), token, d)
	if err != nil || !held {
		t.Fatalf("held %v, %v", held, err)
	}
	return next
}

// keep renews the lease until stop is called.
func keep(t testing.TB, c *Client, d time.Duration) (stop func()) {
	t.Helper()
	token := hold(t, c, d)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			next, _, err := c.Renew(ctx, token, d)
			if err == nil {
				token = next
			}
			wait(ctx, d/10)
		}
	}()
	return func() { cancel(); <-done }
}

func leasedSpec(dir, script string, args ...string) exec.Spec {
	return spec(dir, key(own(dir), 1), script, args...)
}

func TestProgramsDieWithTheirLeaseAndReportIt(t *testing.T) {
	dir := t.TempDir()
	here := fifo(t, dir, "here")
	c := connectLeased(t, dir)
	stop := keep(t, c, 2*time.Second)
	token := hold(t, c, 2*time.Second)
	p, err := c.SpawnIn(t.Context(), leasedSpec(dir, `trap "" TERM; sleep 300 & echo $! > "$1"; wait`, here),
		attempts(dir), Placement{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	child := read(t, here)
	stop()
	want := exec.Exit{Lost: true, Reason: lapseReason}
	if diff := cmp.Diff(want, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if alive(t, child) {
		t.Error("a child lives")
	}
	s, err := journal.Read(attempts(dir), "1-1")
	if err != nil || s.End.Kind != journal.Lost || s.End.Reason != lapseReason {
		t.Errorf("%+v, %v", s.End, err)
	}
}

func TestNothingRunsWithoutALease(t *testing.T) {
	dir := t.TempDir()
	c := connectLeased(t, dir)
	what, at := leasedSpec(dir, `echo x >> "$1"`, filepath.Join(dir, "ran")), attempts(dir)
	if _, err := c.Spawn(t.Context(), what, at); !errors.Is(err, attempt.ErrNoLease) {
		t.Errorf("without a token: %v", err)
	}
	token, _, err := c.Renew(t.Context(), nil, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SpawnIn(t.Context(), what, at, Placement{Token: token}); !errors.Is(err, attempt.ErrNoLease) {
		t.Errorf("before the lease is renewed: %v", err)
	}
	if st, _, err := c.Attach(t.Context(), what.Key, at); st.Condition != attempt.Unclaimed || err != nil {
		t.Errorf("a refusal decided about the attempt: %+v, %v", st, err)
	}
	token = hold(t, c, time.Minute)
	p, err := c.SpawnIn(t.Context(), what, at, Placement{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{}, p.Wait()); diff != "" || lines(t, dir) != 1 {
		t.Errorf("%sran %d times", diff, lines(t, dir))
	}
}

func TestARenewedLeaseEndsNothing(t *testing.T) {
	dir := t.TempDir()
	c := connectLeased(t, dir)
	const d = 500 * time.Millisecond
	defer keep(t, c, d)()
	p, err := c.SpawnIn(t.Context(), leasedSpec(dir, `sleep 2; exit 7`), attempts(dir), Placement{Token: hold(t, c, d)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 7}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestASupervisorWithoutALeaseRefusesRenewal(t *testing.T) {
	c := connectTo(t, t.TempDir())
	if _, _, err := c.Renew(t.Context(), nil, time.Minute); err == nil {
		t.Error("no error")
	}
}

func TestProgramsOnALeaseDieWithTheirSupervisor(t *testing.T) {
	dir := t.TempDir()
	here := fifo(t, dir, "here")
	c := connectLeased(t, dir)
	p, err := c.SpawnIn(t.Context(), leasedSpec(dir, `trap "" TERM; sleep 300 & echo $! > "$1"; wait`, here),
		attempts(dir),
		Placement{Token: hold(t, c, time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	child, pid := read(t, here), strconv.Itoa(p.Pid())
	if !alive(t, pid) {
		t.Error("it does not run")
	}
	kill(t, supervisorPid(t, dir))
	if e := p.Wait(); !e.Lost {
		t.Errorf("%+v", e)
	}
	if alive(t, pid) || alive(t, child) {
		t.Error("something of it lives")
	}
}

// makeGroup creates a control group, or skips the test if that is impossible.
func makeGroup(t *testing.T) *cgroup.Group {
	t.Helper()
	h, err := cgroup.Detect(cgroup.Config{Name: "test-" + strconv.Itoa(os.Getpid()) + "-" + strings.ToLower(
		own(t.TempDir())[:10],
	)})
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Make("a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(g.Kill(context.Background()), g.Remove(), h.Close()); err != nil {
			t.Error(err)
		}
	})
	if len(g.Procs()) == 0 {
		t.Skip("no control groups here: ", h.Offers())
	}
	return g
}

func TestAProgramRunsInItsGroupsFromItsFirstInstructionAndLeavesThemEmpty(t *testing.T) {
	g, dir := makeGroup(t), t.TempDir()
	c := connectTo(t, dir)
	// The child is in a new session: only the group identifies it.
	p, err := c.SpawnIn(t.Context(),
		leasedSpec(dir, `cat /proc/self/cgroup > "$1"; setsid sleep 300 & : > "$1.up"; wait $!`,
			filepath.Join(dir, "in")),
		attempts(dir), Placement{Groups: g.Procs()})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "in.up")); err == nil {
			break
		}
		wait(t.Context(), time.Millisecond)
	}
	pids, err := g.Pids()
	if err != nil || len(pids) < 2 {
		t.Fatal(pids, err)
	}
	kill(t, p.Pid())
	p.Wait()
	for _, pid := range pids {
		if alive(t, strconv.Itoa(pid)) {
			t.Errorf("process %d lives", pid)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "in"))
	if err != nil || strings.Count(string(text), "/g-a\n") != len(g.Procs()) {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestAFrozenProgramIsKilledToo(t *testing.T) {
	g, dir := makeGroup(t), t.TempDir()
	c := connectLeased(t, dir)
	stop := keep(t, c, 2*time.Second)
	p, err := c.SpawnIn(t.Context(), leasedSpec(dir, `sleep 300 & wait`), attempts(dir),
		Placement{Groups: g.Procs(), Token: hold(t, c, 2*time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if diff := cmp.Diff(exec.Exit{Lost: true, Reason: lapseReason}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestAProgramThatCannotEnterItsGroupNeverRuns(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	what := leasedSpec(dir, `echo x >> "$1"`, filepath.Join(dir, "ran"))
	_, err := c.SpawnIn(t.Context(), what, attempts(dir),
		Placement{Groups: []string{filepath.Join(dir, "gone", "cgroup.procs")}})
	if !errors.Is(err, exec.ErrNeverRan) || !strings.Contains(err.Error(), "control group") ||
		strings.Contains(err.Error(), dir) || lines(t, dir) != 0 {
		t.Errorf("%v, ran %d times", err, lines(t, dir))
	}
	if _, err := c.SpawnIn(t.Context(), what, attempts(dir), Placement{Groups: []string{"/etc/passwd"}}); err == nil ||
		errors.Is(err, exec.ErrNeverRan) {
		t.Errorf("a file that is no group's: %v", err)
	}
}

// No other supervisor is started, which would also kill the program.
func TestAProgramOnALeaseDiesEvenIfNoSupervisorFollows(t *testing.T) {
	dir := t.TempDir()
	c := connectLeased(t, dir)
	p, err := c.SpawnIn(t.Context(), leasedSpec(dir, `trap "" TERM; while :; do sleep 0.05; done`), attempts(dir),
		Placement{Token: hold(t, c, time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	pid, of := strconv.Itoa(p.Pid()), supervisorPid(t, dir)
	c.Close()
	if !alive(t, pid) {
		t.Error("it died with the connection")
	}
	kill(t, of)
	for deadline := time.Now().Add(10 * time.Second); alive(t, pid); wait(context.Background(), time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it lives")
		}
	}
}

package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

func TestATaskRunsOnANodeAndItsEndIsReported(t *testing.T) {
	r := newRig(t)
	defer r.keep(10 * time.Second)()
	d, err := r.node.Describe(t.Context())
	if err != nil || d.Name != r.Name || d.Site != "lyon" || d.Processors < 1 || d.Memory < 1 || len(d.Offers) != 6 {
		t.Errorf("%+v, %v", d, err)
	}
	p := r.launch(r.task(1, runs+`exit 3`))
	if diff := cmp.Diff(exec.Exit{Code: 3}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if p.Started().IsZero() {
		t.Error("no start")
	}
	p = r.launch(r.task(1, runs+`exit 3`))
	if diff := cmp.Diff(exec.Exit{Code: 3}, p.Wait()); diff != "" || r.ran() != 1 {
		t.Errorf("again: %sran %d times", diff, r.ran())
	}
	st, _, err := r.node.Attach(t.Context(), id(1))
	if err != nil || st.Condition != attempt.Exited || st.Code != 3 {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := r.node.Launch(t.Context(), r.task(2, "true", "\x00")); err == nil {
		t.Error("NUL in an argument: no error")
	}
}

func TestATaskOnANodeIsPausedSharedAndMeasured(t *testing.T) {
	r := newRig(t)
	defer r.keep(10 * time.Second)()
	p := r.launch(r.task(1, `while :; do :; done`))
	used := func() time.Duration { return p.Use().CPU }
	r.until("it is measured", func() bool { return used() > 50*time.Millisecond })
	if err := p.Share(t.Context(), cgroup.Processor/20); err != nil {
		t.Error(err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_ = wait(t.Context(), nil, 300*time.Millisecond)
	before := used()
	_ = wait(t.Context(), nil, 300*time.Millisecond)
	if got := used() - before; got > 50*time.Millisecond {
		t.Errorf("used %v while paused", got)
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_ = wait(t.Context(), nil, 2*time.Second)
	if got := float64(used()-before) / float64(time.Since(begin)); got > 0.10 || got == 0 {
		t.Errorf("got %.3f of a processor, want 0.05", got)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Signal: syscall.SIGTERM}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if err := p.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after its end: %v", err)
	}
}

func TestATaskOutlivesItsDaemon(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	p := r.launch(r.task(1, `trap 'exit 5' USR1; `+runs+`while :; do sleep 0.02; done`))
	pid := r.pid()
	r.Stop(syscall.SIGKILL)
	// The signal is stored until a daemon runs again.
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	if !nodetest.Alive(pid) {
		t.Error("it died with the daemon")
	}
	r.Start()
	if diff := cmp.Diff(exec.Exit{Code: 5}, p.Wait()); diff != "" || r.ran() != 1 {
		t.Errorf("%sran %d times", diff, r.ran())
	}
}

func TestAnUnreportedEndIsReportedByTheNextDaemon(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	if err := syscall.Mkfifo(filepath.Join(r.dir, "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := r.launch(r.task(1, runs+`read x < "$1/hold"; exit 6`))
	pid := r.pid()
	r.Stop(syscall.SIGKILL)
	if err := os.WriteFile(filepath.Join(r.dir, "hold"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("it has ended", func() bool { return !nodetest.Alive(pid) })
	r.Start()
	if diff := cmp.Diff(exec.Exit{Code: 6}, p.Wait()); diff != "" || r.ran() != 1 {
		t.Errorf("%sran %d times", diff, r.ran())
	}
}

func TestATaskDiesWithItsSupervisorAndWithAllThatItStarted(t *testing.T) {
	for name, others := range map[string][]string{
		"alone": nil, "and the daemon": {"daemon"}, "and both its guard and the daemon": {"guard", "daemon"},
	} {
		t.Run(name, func(t *testing.T) {
			daemonToo := slices.Contains(others, "daemon")
			r := newRig(t)
			defer r.keep(30 * time.Second)()
			if slices.Contains(others, "guard") { // waits for the other guard
				guard := r.guard()
				if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				r.until("its guard has died", func() bool { return !nodetest.Alive(guard) })
			}
			p := r.launch(r.task(1, runs+`setsid sh -c 'echo $$ > "$1/child"; exec sleep 300' sh "$1" & sleep 300`))
			pid := r.pid()
			r.until("its child runs", func() bool {
				_, err := os.Stat(filepath.Join(r.dir, "child"))
				return err == nil
			})
			super := r.Supervisor()
			d, err := r.node.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			byGroups := d.Offers[cgroup.Killing].Way != "signals"
			if daemonToo {
				r.Stop(syscall.SIGKILL)
			}
			if err := syscall.Kill(super, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			r.until("it has died", func() bool { return !nodetest.Alive(pid) })
			if daemonToo {
				if child := number(t, filepath.Join(r.dir, "child")); byGroups {
					r.until("its child has died without being observed", func() bool { return !nodetest.Alive(child) })
				}
				r.Start()
			}
			if e := p.Wait(); !e.Lost || r.ran() != 1 {
				t.Errorf("%+v, ran %d times", e, r.ran())
			}
			if !byGroups {
				return // a process that has left the process group is out of reach
			}
			if child := number(t, filepath.Join(r.dir, "child")); nodetest.Alive(child) {
				t.Errorf("process %d lives", child)
			}
			// The next supervisor runs further tasks.
			if diff := cmp.Diff(exec.Exit{}, r.launch(r.task(2, runs)).Wait()); diff != "" || r.ran() != 2 {
				t.Errorf("%sran %d times", diff, r.ran())
			}
		})
	}
}

func TestNoTaskSurvivesAPartitionThatIsLongerThanItsLease(t *testing.T) {
	r := newRig(t)
	const lease = 2 * time.Second
	defer r.keep(lease)()
	p := r.launch(r.task(1, runs+`trap "" TERM; while :; do sleep 0.02; done`))
	pid := r.pid()
	r.proxy.setCut(true)
	begin := time.Now()
	r.until("it has died", func() bool { return !nodetest.Alive(pid) })
	if took := time.Since(begin); took < lease/2 || took > 3*lease {
		t.Errorf("it died after %v, of a lease of %v", took, lease)
	}
	// A command from before the partition arrives after it.
	stale := r.task(2, runs)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	late, err := r.node.Launch(ctx, stale)
	if err != nil {
		t.Fatal(err)
	}
	r.proxy.setCut(false)
	if diff := cmp.Diff(exec.Exit{Lost: true, Reason: "killed: the lease of its node was not renewed"},
		p.Wait()); diff != "" {
		t.Error(diff)
	}
	if e := late.Wait(); !e.Lost {
		t.Errorf("%+v", e)
	}
	if st, _, err := r.node.Attach(t.Context(), id(2)); st.Condition != attempt.Barred || err != nil {
		t.Errorf("what may have been launched is not barred: %+v, %v", st, err)
	}
	if diff := cmp.Diff(exec.Exit{}, r.launch(r.task(3, runs)).Wait()); diff != "" || r.ran() != 2 {
		t.Errorf("%sran %d times, want 2: before and after", diff, r.ran())
	}
}

func TestALaunchThatIsLateForItsLeaseRunsNothingUnderTheNext(t *testing.T) {
	r := newRig(t)
	const lease = 2 * time.Second
	if err := r.node.Renew(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	r.proxy.setCut(true)
	ctx, cancel := context.WithCancel(t.Context())
	late, held := make(chan *Task), r.node
	go func() {
		p, err := held.Launch(ctx, r.task(1, runs))
		if err != nil && !errors.Is(err, exec.ErrNeverRan) {
			t.Error(err)
		}
		late <- p
	}()
	_ = wait(t.Context(), nil, lease+lease/2) // the command has timed out
	// The same server connects again and renews.
	r.node = New(Config{Name: r.Name, Address: "http://" + r.Address, Site: "lyon", SiteID: "id1"})
	defer func() { r.node.Close(); r.node = held }()
	defer r.keep(lease)()
	r.proxy.setCut(false)
	_ = wait(t.Context(), nil, 300*time.Millisecond) // a refusal is not reported
	cancel()
	if p := <-late; p != nil {
		p.Detach()
	}
	if r.ran() != 0 {
		t.Error("it ran")
	}
}

func TestAPartitionThatIsShorterThanTheLeaseEndsNothing(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	p := r.launch(r.task(1, `trap 'exit 5' USR1; `+runs+`while :; do sleep 0.02; done`))
	r.pid()
	r.proxy.setCut(true)
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	r.proxy.drop()
	r.proxy.setCut(false)
	if diff := cmp.Diff(exec.Exit{Code: 5}, p.Wait()); diff != "" || r.ran() != 1 {
		t.Errorf("%sran %d times", diff, r.ran())
	}
}

func TestANodeServesOneServer(t *testing.T) {
	r := newRig(t)
	if _, err := r.node.Bar(t.Context(), id(1)); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("before it is claimed: %v", err)
	}
	if err := r.node.Renew(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ site, id, want string }{
		"another site":         {"nancy", "id1", "serves site lyon"},
		"another data dir":     {"lyon", "id2", "another server of site lyon"},
		"no claimant":          {"", "", "claimant: accepted: "},
		"a site without an ID": {"lyon", "", "claimant: accepted: "},
	} {
		other := r.client(c.site, c.id)
		if err := other.Renew(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := other.Launch(t.Context(), r.task(1, runs)); err == nil || r.ran() != 0 {
			t.Errorf("%s: launch: %v, ran %d times", name, err, r.ran())
		}
		other.Close()
	}
	r.Stop(syscall.SIGTERM)
	r.Start()
	other := r.client("nancy", "id1")
	defer other.Close()
	if err := other.Renew(t.Context(), time.Second); err == nil {
		t.Error("it lost its owner in a restart")
	}
}

func TestTasksBarredOnANodeNeverRun(t *testing.T) {
	r := newRig(t)
	defer r.keep(10 * time.Second)()
	if won, err := r.node.Bar(t.Context(), id(1)); !won || err != nil {
		t.Fatal(won, err)
	}
	if _, err := r.node.Launch(t.Context(), r.task(1, runs)); !errors.Is(err, exec.ErrNeverRan) ||
		!errors.Is(err, supervisor.ErrBarred) || r.ran() != 0 {
		t.Errorf("%v, ran %d times", err, r.ran())
	}
}

func TestANodeThatIsDownRunsNothing(t *testing.T) {
	r := newRig(t)
	if err := r.node.Renew(t.Context(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	r.Stop(syscall.SIGTERM)
	direct := New(Config{Name: r.Name, Address: "http://" + r.Address, Site: "lyon", SiteID: "id1"})
	defer direct.Close()
	if _, err := direct.Launch(t.Context(), r.task(1, runs)); !errors.Is(err, exec.ErrNodeGone) ||
		!errors.Is(err, node.ErrUnreachable) {
		t.Error(err)
	}
	if err := direct.Renew(t.Context(), time.Second); !errors.Is(err, node.ErrUnreachable) {
		t.Error(err)
	}
	r.Start()
}

func number(t testing.TB, file string) (n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.TrimSpace(string(text)) {
		n = 10*n + int(c-'0')
	}
	return n
}

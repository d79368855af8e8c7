package pool_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// rigs returns a pool of real nodes.
func rigs(t *testing.T, n int, lease time.Duration) (*pool.Pool, []*rig, *news) {
	t.Helper()
	var all []*rig
	for range n {
		all = append(all, newRig(t))
	}
	return over(t, lease, all...), all, &news{}
}

// over returns a pool whose nodes are up, and closes it at the end of the test.
func over(t testing.TB, lease time.Duration, all ...*rig) *pool.Pool {
	t.Helper()
	cfg := pool.Config{Lease: lease}
	var allocation []batch.NodeAllocation
	for i, r := range all {
		cfg.Names, cfg.Nodes = append(cfg.Names, r.Name), append(cfg.Nodes, pool.Remote(r.far, 0))
		allocation = append(allocation, on(int32(i), 1))
	}
	p, err := pool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	eventually(t, "the nodes are up", func() bool {
		st, proc, err := p.Recover(t.Context(), batch.Key{Job: "probe", Attempt: probes.Add(1)}, batch.LaunchPerNode,
			allocation)
		if proc != nil {
			proc.Detach()
		}
		return err == nil && st.Condition == attempt.Barred
	})
	return p
}

var probes atomic.Uint32

// news is a call of the follower.
type news struct {
	mu  sync.Mutex
	all []bool
}

func (n *news) changed(_ int32, up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, up)
}

func (n *news) is(want ...bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Equal(n.all, want)
}

func key(name string) batch.Key { return batch.Key{Job: batch.JobID(name), Epoch: 1, Attempt: 1} }

func on(node, processors int32) batch.NodeAllocation {
	return batch.NodeAllocation{Node: node, Processors: processors, Share: batch.One}
}

// script returns an attempt with a process for each part of the allocation. Each process
// writes its rank.
func script(dir, name string, how batch.Launch, text string, allocation ...batch.NodeAllocation) exec.Spec {
	s := exec.Spec{
		Key: key(name), Shape: batch.Shape{Width: 1, Walltime: batch.Hour}, Launch: how, Allocation: allocation,
	}
	s.Args = []string{
		"/bin/sh", "-c", `echo $$ > pid.new.$DROVER_RANK; mv pid.new.$DROVER_RANK pid.` + name + `.$DROVER_RANK; ` +
			text,
	}
	s.Env = []string{"PATH=" + os.Getenv("PATH")}
	s.Dir, s.Stdout, s.Stderr = dir, filepath.Join(dir, "out"), filepath.Join(dir, "out")
	return s
}

func TestRealProcessesOfAnAttemptRunOnEachNodeAndWriteIntoOneFile(t *testing.T) {
	p, _, _ := rigs(t, 2, 10*time.Second)
	dir := t.TempDir()
	proc, err := p.Launch(script(dir, "j", batch.LaunchPerTask, `echo "rank $DROVER_RANK of $DROVER_RANKS"`, on(0, 1),
		on(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if exit := proc.Wait(); exit != (exec.Exit{}) {
		t.Fatalf("%+v", exit)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	if diff := cmp.Diff([]string{"rank 0 of 3", "rank 1 of 3", "rank 2 of 3"}, lines); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestRealProcessThatFailsEndsTheOthersOnOtherNodes(t *testing.T) {
	p, _, _ := rigs(t, 2, 10*time.Second)
	dir := t.TempDir()
	proc, err := p.Launch(script(dir, "j", batch.LaunchPerNode, `[ $DROVER_RANK = 1 ] && exit 3; exec sleep 300`,
		on(0, 1), on(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if exit := proc.Wait(); exit.Code != 3 || !strings.HasPrefix(exit.Reason, "process 2 of 2 on node ") {
		t.Errorf("%+v", exit)
	}
	for _, pid := range pids(t, dir) {
		if nodetest.Alive(pid) {
			t.Errorf("process %d is there", pid)
		}
	}
}

// Only the daemon is killed, so the supervisor ends the lease.
func TestRealNodeThatIsKilledLosesItsMemberAndEndsTheOthers(t *testing.T) {
	p, all, n := rigs(t, 2, 3*time.Second)
	p.Follow(n.changed)
	dir := t.TempDir()
	proc, err := p.Launch(script(dir, "j", batch.LaunchPerNode, `exec sleep 300`, on(0, 1), on(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "both run", func() bool { return len(pids(t, dir)) == 2 })
	begun := time.Now()
	all[0].Stop(syscall.SIGKILL)
	eventually(t, "the policy gets the report", func() bool { return n.is(false) })
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("reported after %v", took)
	}
	exit := proc.Wait()
	if took := time.Since(begun); !exit.Lost || took < 2*time.Second {
		t.Errorf("%+v after %v", exit, took)
	}
	for _, pid := range pids(t, dir) {
		if nodetest.Alive(pid) {
			t.Errorf("process %d exists when its end is reported", pid)
		}
	}
	all[0].Start()
	eventually(t, "the node is back", func() bool { return n.is(false, true) })
	again, err := p.Launch(script(dir, "k", batch.LaunchOnce, `exit 0`, on(0, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if exit := again.Wait(); exit != (exec.Exit{}) {
		t.Errorf("%+v", exit)
	}
}

// A process survives if its daemon and its server are killed and restarted within its lease.
func TestRealProcessIsFollowedAfterRestartsOfDaemonAndServer(t *testing.T) {
	p, all, n := rigs(t, 1, 20*time.Second)
	p.Follow(n.changed)
	dir := t.TempDir()
	allocation := []batch.NodeAllocation{on(0, 1)}
	proc, err := p.Launch(script(dir, "j", batch.LaunchOnce, `until [ -e stop ]; do sleep 0.01; done; exit 7`,
		allocation...))
	if err != nil {
		t.Fatal(err)
	}
	all[0].Stop(syscall.SIGKILL)
	all[0].Start()
	p.Close() // like a kill of the server, except for the lease
	if exit := proc.Wait(); !exit.Detached {
		t.Fatalf("%+v", exit)
	}
	next := over(t, 20*time.Second, all[0])
	st, found, err := next.Recover(t.Context(), key("j"), batch.LaunchOnce, allocation)
	if err != nil || st.Condition != attempt.Running || st.Started.IsZero() {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := found.Wait(); exit != (exec.Exit{Code: 7}) {
		t.Errorf("%+v", exit)
	}
	st, found, err = next.Recover(t.Context(), key("j"), batch.LaunchOnce, allocation)
	if err != nil || found != nil || st.Condition != attempt.Exited || st.Code != 7 {
		t.Errorf("%+v, %v, %v", st, found, err)
	}
	st, _, err = next.Recover(t.Context(), key("other"), batch.LaunchOnce, allocation)
	if err != nil || st.Condition != attempt.Barred {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := next.Launch(script(dir, "other", batch.LaunchOnce, `exit 0`, allocation...)); err == nil {
		t.Error("what was barred was launched")
	}
}

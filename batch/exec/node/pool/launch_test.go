package pool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

func TestEachWayToLaunchHasItsRanks(t *testing.T) {
	allocation := []batch.NodeAllocation{on(2, 1), on(0, 1), on(1, 3)}
	for how, want := range map[batch.Launch][]string{
		batch.LaunchOnce: {"b: 1x3 rank 0 of 1, 3 threads"},
		batch.LaunchPerNode: {
			"a: 0x1 rank 0 of 3, 1 threads", "b: 1x3 rank 1 of 3, 3 threads", "c: 2x1 rank 2 of 3, 1 threads",
		},
		batch.LaunchPerTask: {
			"a: 0x1 rank 0 of 5, 1 threads", "b: 1x1 rank 1 of 5, 1 threads", "b: 1x1 rank 2 of 5, 1 threads",
			"b: 1x1 rank 3 of 5, 1 threads", "c: 2x1 rank 4 of 5, 1 threads",
		},
	} {
		t.Run(how.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b, c := newHost("a"), newHost("b"), newHost("c")
				p := open(t, a, b, c)
				s := spec("j", how, allocation...)
				s.Env = []string{"DROVER_NODES=all", "GOMAXPROCS=9", "OMP_NUM_THREADS=5"}
				proc, all := launch(t, p, s, a, b, c)
				var got []string
				for _, m := range all {
					var where []string
					for _, l := range m.task.Spec.Allocation {
						where = append(where, fmt.Sprintf("%dx%d", l.Node, l.Processors))
					}
					env := map[string]string{}
					for _, v := range m.task.Spec.Env {
						name, value, _ := strings.Cut(v, "=")
						env[name] = value
					}
					if !slices.IsSorted(m.task.Spec.Env) || env["DROVER_NODES"] != "all" || env["GOMAXPROCS"] != "9" {
						t.Error(m.task.Spec.Env)
					}
					got = append(got, fmt.Sprintf("%s: %s rank %s of %s, %s threads", m.host.name,
						strings.Join(where, " "), env["DROVER_RANK"], env["DROVER_RANKS"], env["OMP_NUM_THREADS"]))
					m.finish(exec.Exit{})
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if exit := proc.Wait(); exit != (exec.Exit{}) {
					t.Errorf("%+v", exit)
				}
			})
		})
	}
}

// The first node wins a tie, and virtual nodes of one host count as one.
func TestOnceIsOnTheHostWithMostProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		p, err := New(Config{Names: []string{"a1", "b", "a2"}, Nodes: []Node{a, b, a}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		defer func() { a.timer.Stop(); b.timer.Stop() }()
		synctest.Wait()
		for _, c := range []struct {
			allocation []batch.NodeAllocation
			want       *host
			n          int
		}{
			{[]batch.NodeAllocation{on(0, 2), on(1, 3)}, b, 1},
			{[]batch.NodeAllocation{on(0, 2), on(1, 3), on(2, 2)}, a, 2},
			{[]batch.NodeAllocation{on(0, 2), on(1, 2)}, a, 1},
		} {
			_, all := launch(t, p, spec(fmt.Sprint(c), batch.LaunchOnce, c.allocation...), a, b)
			if len(all) != 1 || all[0].host != c.want || len(all[0].task.Spec.Allocation) != c.n {
				t.Errorf("%v: at %v", c.allocation, all[0].task.Spec.Allocation)
			}
		}
	})
}

func TestMembersAppendToFilesThatAreTruncatedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		p := open(t, a, b)
		file := filepath.Join(t.TempDir(), "logs", "out")
		s := spec("j", batch.LaunchPerNode, on(0, 1), on(1, 1))
		s.Stdout, s.Stderr = file, file
		_, all := launch(t, p, s, a, b)
		for _, m := range all {
			if !m.task.Spec.Append {
				t.Error("a member truncates what another has written")
			}
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Key, s.Append = key("k"), true // as after a checkpoint
		launch(t, p, s, a, b)
		if text, _ := os.ReadFile(file); string(text) != "x" {
			t.Errorf("%q", text)
		}
		s.Key, s.Append = key("l"), false
		launch(t, p, s, a, b)
		if text, _ := os.ReadFile(file); len(text) > 0 {
			t.Errorf("%q", text)
		}
	})
}

func TestFirstThatFailsEndsTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		exit    exec.Exit
		paused  bool
		signals []syscall.Signal
		more    string
	}{
		"status": {
			exec.Exit{Code: 3}, false, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, "process 2 of 3 on node a",
		},
		"signal": {
			exec.Exit{Signal: syscall.SIGSEGV},
			false,
			[]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL},
			"process 2 of 3 on node a",
		},
		"known": {
			exec.Exit{Signal: syscall.SIGKILL, Reason: "no memory"},
			false,
			[]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL},
			"process 2 of 3 on node a: no memory",
		},
		"lost": {exec.Exit{Lost: true, Reason: "why"}, true, []syscall.Signal{
			syscall.SIGSTOP, syscall.SIGTERM, syscall.SIGCONT, syscall.SIGKILL,
		}, "why"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newHost("a"), newHost("b")
				p := open(t, a, b)
				proc, all := launch(t, p, spec("j", batch.LaunchPerTask, on(0, 2), on(1, 1)), a, b)
				if c.paused {
					_ = proc.Signal(syscall.SIGSTOP)
					synctest.Wait()
				}
				all[0].finish(exec.Exit{})
				synctest.Wait()
				all[1].finish(c.exit)
				after(9 * time.Second)
				if _, over := ending(proc); over {
					t.Error("the attempt ended before all of its members")
				}
				after(2 * time.Second)
				c.exit.Reason = c.more
				if exit, over := ending(proc); !over || exit != c.exit {
					t.Errorf("%+v", exit)
				}
				if diff := cmp.Diff(c.signals, all[2].signals()); diff != "" {
					t.Error(diff)
				}
				if err := proc.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
					t.Error(err)
				}
			})
		})
	}
}

func TestMembersThatStopAtACheckpointHaveNotFailed(t *testing.T) {
	for name, c := range map[string]struct{ codes, want []int }{
		"all":              {[]int{85, 85}, []int{85}},
		"one has finished": {[]int{85, 0}, []int{85}},
		"the other":        {[]int{0, 85}, []int{85}},
		"one has failed":   {[]int{85, 1}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newHost("a")
				p := open(t, a)
				proc, all := launch(t, p, spec("j", batch.LaunchPerTask, on(0, 2)), a)
				for i, m := range all {
					m.finish(exec.Exit{Code: c.codes[i]})
					synctest.Wait()
				}
				if exit := proc.Wait(); exit.Code != c.want[0] {
					t.Errorf("%+v", exit)
				}
			})
		})
	}
}

func TestFailedLaunchReportsWhy(t *testing.T) {
	missing := errors.New("command x: not found")
	for name, c := range map[string]struct {
		errs []error
		want error
		not  error
		says string
	}{
		"a permanent error": {
			[]error{exec.ErrNeverRan, missing}, missing, exec.ErrNeverRan, "node b: command x: not found",
		},
		"a temporary error": {[]error{exec.ErrNodeGone, exec.ErrNeverRan}, exec.ErrNeverRan, exec.ErrNodeGone, ""},
		"nothing was sent": {
			[]error{exec.ErrNodeGone, exec.ErrNodeGone}, exec.ErrNodeGone, exec.ErrNeverRan, "node a: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newHost("a"), newHost("b")
				p := open(t, a, b)
				a.refuses[0], b.refuses[1] = c.errs[0], c.errs[1]
				if _, err := p.Launch(spec("j", batch.LaunchPerNode, on(0, 1), on(1, 1))); !errors.Is(err, c.want) ||
					errors.Is(err, c.not) || !strings.HasPrefix(err.Error(), c.says) {
					t.Errorf("error %v, want %v, saying %q", err, c.want, c.says)
				}
				for _, e := range p.all {
					if len(e.list()) > 0 {
						t.Error("the attempt is followed")
					}
				}
			})
		})
	}
}

func TestPartlyLaunchedAttemptIsEndedAndLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		p := open(t, a, b)
		b.refuses[1] = errors.New("command x: not found")
		proc, all := launch(t, p, spec("j", batch.LaunchPerNode, on(0, 1), on(1, 1)), a, b)
		after(11 * time.Second)
		want := exec.Exit{Lost: true, Reason: "process 2 of 2 was not started on node b: command x: not found"}
		if exit, over := ending(proc); !over || exit != want {
			t.Errorf("%+v", exit)
		}
		if diff := cmp.Diff([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, all[0].signals()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBadAllocationsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, newHost("a"))
		for _, allocation := range [][]batch.NodeAllocation{nil, {on(1, 1)}, {on(-1, 1)}, {on(0, 0)}} {
			if _, err := p.Launch(spec("j", batch.LaunchOnce, allocation...)); err == nil {
				t.Errorf("%v", allocation)
			}
		}
	})
}

func TestBadConfigurationIsRefused(t *testing.T) {
	h := newHost("a")
	for _, c := range []Config{
		{}, {Names: []string{"a"}}, {Names: []string{"a"}, Nodes: []Node{nil}}, {
			Names: []string{"a"}, Nodes: []Node{h}, Lease: -1,
		},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v", c)
		}
	}
}

func TestAmountsAreThoseOfAllTasks(t *testing.T) {
	half := []batch.NodeAllocation{{Processors: 3, Share: batch.One / 2}, {Processors: 1, Share: batch.One}}
	for _, c := range []struct {
		allocation []batch.NodeAllocation
		worth      cgroup.CPU
		want       cgroup.CPU
	}{
		{half, cgroup.Processor, 5 * cgroup.Processor / 2},
		{half, cgroup.Processor / 4, 5 * cgroup.Processor / 8},
		{[]batch.NodeAllocation{{Processors: 1, Share: 1}}, cgroup.Processor / 4, 1}, // 0 would mean no limit
		{
			[]batch.NodeAllocation{{Processors: batch.MaxProcessors, Share: batch.One}},
			cgroup.Processor,
			batch.MaxProcessors << 20,
		},
	} {
		if got := amount(c.allocation, c.worth); got != c.want {
			t.Errorf("%v at %d: %d, want %d", c.allocation, c.worth, got, c.want)
		}
	}
}

func TestMemoryIsLimitedOnlyWhereItIsKnownOfEachTask(t *testing.T) {
	groups := []batch.TaskGroup{{Memory: 10}, {Memory: 0}}
	both := []batch.NodeAllocation{{Processors: 2}, {Processors: 3, Group: 1}}
	for want, spec := range map[int64]exec.Spec{
		35: {Allocation: both, Memory: 7},
		20: {Allocation: both[:1], Memory: 7, Groups: groups},
		0:  {Allocation: both, Memory: 7, Groups: groups},
	} {
		if got := memory(&spec); got != want {
			t.Errorf("%+v: %d, want %d", spec, got, want)
		}
	}
}

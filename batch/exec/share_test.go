package exec

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// sharers is a launcher of fakes with shares.
type sharers struct {
	fakes
	launched chan *sharer
	fails    error
}

type sharer struct {
	*fake
	fails    error
	received sync.Mutex
	all      [][]batch.NodeAllocation
}

func newSharers() sharers { return sharers{newFakes(), make(chan *sharer, 1024), nil} }

func (l sharers) Launch(spec Spec) (Launched, error) {
	if _, err := l.fakes.Launch(spec); err != nil {
		return nil, err
	}
	p := &sharer{fake: <-l.fakes.launched, fails: l.fails}
	l.launched <- p
	return p, nil
}

func (p *sharer) SetShares(allocation []batch.NodeAllocation) error {
	p.received.Lock()
	defer p.received.Unlock()
	p.all = append(p.all, allocation)
	return p.fails
}

func (p *sharer) shares() [][]batch.NodeAllocation {
	p.received.Lock()
	defer p.received.Unlock()
	return p.all
}

// on returns an allocation of one processor of a node with a share.
func on(node int32, share batch.Share) []batch.NodeAllocation {
	return []batch.NodeAllocation{{Node: node, Processors: 1, Share: share}}
}

// after sleeps in virtual time.
func after(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}

func TestTheProcessGetsItsShareAtTheLaunchAndAtEachChange(t *testing.T) {
	for name, fails := range map[string]error{"able": nil, "not able": errors.New("no rights")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newSharers()
				l.fails = fails
				p := newToy(4,
					line{10 * batch.Second, batch.Decision{
						Kind: batch.SetShare, Job: 1, Allocation: on(1, batch.One/4),
					}},
					line{20 * batch.Second, batch.Decision{
						Kind: batch.SetShare, Job: 1, Allocation: on(1, batch.One/8),
					}})
				p.allocation = on(1, batch.One/2)
				s := open(t, Config{Policy: p, Launcher: l})
				do(t, s, minute())
				proc := <-l.launched
				if diff := cmp.Diff(on(1, batch.One/2), proc.spec.Allocation); diff != "" {
					t.Error(diff)
				}
				after(21 * time.Second)
				if diff := cmp.Diff([][]batch.NodeAllocation{on(1, batch.One/4), on(1, batch.One/8)},
					proc.shares()); diff != "" {
					t.Error(diff)
				}
				if err := s.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestSpecHasTheMemoryNeedOfTheTasks(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l})
	cmd := minute()
	cmd.Job.Memory = 1 << 20
	cmd.Job.Groups = []batch.TaskGroup{{Tasks: 1, Memory: 1 << 21, CPU: batch.One}}
	run := shelf.of(cmd)
	run.Launch = batch.LaunchPerTask
	shelf.put(cmd.Key, run)
	do(t, s, cmd)
	proc := <-l.launched
	got := proc.spec
	if got.Memory != 1<<20 || !cmp.Equal(got.Groups, cmd.Job.Groups) || got.Launch != batch.LaunchPerTask {
		t.Errorf("%+v", got)
	}
	proc.end <- Exit{}
}

// slowSharers is a launcher that waits for the test before it returns.
type slowSharers struct {
	sharers
	now chan struct{}
}

func (l slowSharers) Launch(spec Spec) (Launched, error) {
	<-l.now
	return l.sharers.Launch(spec)
}

func TestShareSetDuringTheLaunchIsAppliedAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowSharers{newSharers(), make(chan struct{})}
		p := newToy(4, line{batch.Second, batch.Decision{Kind: batch.SetShare, Job: 1, Allocation: on(0, batch.One/4)}})
		p.allocation = on(0, batch.One)
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, minute())
		after(2 * time.Second)
		l.now <- struct{}{}
		proc := <-l.launched
		synctest.Wait()
		if diff := cmp.Diff([][]batch.NodeAllocation{on(0, batch.One/4)}, proc.shares()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPausedJobContinuesWithTheShareOfItsResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSharers()
		p := newToy(4,
			line{10 * batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}},
			line{20 * batch.Second, batch.Decision{Kind: batch.Resume, Job: 1, Allocation: on(1, batch.One/2)}})
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, minute())
		proc := <-l.launched
		after(21 * time.Second)
		if diff := cmp.Diff([][]batch.NodeAllocation{on(1, batch.One/2)}, proc.shares()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]syscall.Signal{stop, cont}, proc.signals()); diff != "" {
			t.Error(diff)
		}
	})
}

// A job's record can hold an older, larger share.
func TestAdoptedJobsOfAFractionalPolicyShareTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []Adopted
		var procs []*sharer
		for _, name := range []string{"a", "b", "c"} {
			a, proc := found(name, 1, batch.Minute, time.Now())
			procs = append(procs, &sharer{fake: proc})
			a.Process = procs[len(procs)-1]
			all = append(all, a)
		}
		all[2].Allocation = on(0, batch.One/2) // 2.5 of 2
		s := open(t, Config{Policy: newToy(4), Launcher: newSharers(), Adopt: all, Fractional: true})
		for i, want := range []batch.Share{batch.One * 4 / 5, batch.One * 4 / 5, batch.One * 2 / 5} {
			if diff := cmp.Diff([][]batch.NodeAllocation{on(0, want)}, procs[i].shares()); diff != "" {
				t.Error(diff)
			}
		}
		if free := snapshot(t, s).Free; free != 2 {
			t.Errorf("%d processors free, want the other node's", free)
		}
	})
}

// The policy keeps the job waiting unless the job stays in memory.
func TestPausedJobThatEndsLeavesThePolicy(t *testing.T) {
	for name, resident := range map[string]bool{"cancel a": false, "finish a": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newFakes()
				p := newToy(4, line{10 * batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}})
				s := open(t, Config{Policy: p, Launcher: l})
				cmd := minute()
				cmd.Job.Resident = resident
				do(t, s, cmd)
				proc := <-l.launched
				after(11 * time.Second)
				proc.end <- Exit{Signal: kill}
				await(t, s, "a", batch.PhaseEnded)
				wantTold(t, s, p, "submit a, stopped a 10s, "+name)
			})
		})
	}
}

func TestJobThatEndedBeforeAnySignalEndedByItself(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l})
	do(t, s, minute())
	proc := <-l.launched
	do(t, s, order(batch.CmdCancel, "a"))
	proc.end <- Exit{Code: 4, Unsignaled: true}
	if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndFailed || f.Outcome.ExitCode != 4 {
		t.Errorf("%+v, want its own exit code 4", f.Outcome)
	}
}

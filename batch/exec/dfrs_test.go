package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// stage simulates three hosts of two processors that fail and return, in virtual time.
type stage struct {
	t   *testing.T
	rnd *rand.Rand

	mu    sync.Mutex
	down  [3]bool
	procs map[*actor]bool
	work  map[batch.JobID]batch.Duration // remaining work of each job
	left  int                            // jobs that have not ended
}

// actor is a program with an amount of work, running at a share or paused.
type actor struct {
	stage *stage
	spec  Spec
	saves bool
	end   chan Exit

	// Guarded by stage.mu.
	over   bool
	paused bool
	share  batch.Share
	since  time.Time
	lost   *time.Timer
	timer  *time.Timer
}

func (s *stage) Launch(spec Spec) (Launched, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range spec.Allocation {
		if s.down[l.Node] {
			s.mu.Unlock()
			time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time of the policy's events
			s.mu.Lock()
			return nil, ErrNodeGone
		}
	}
	a := &actor{
		stage: s, spec: spec, saves: spec.Stdout == "/saves", end: make(chan Exit, 1), share: lowest(spec.Allocation),
		since: time.Now(),
	}
	for p := range s.procs {
		if p.spec.Key.Job == spec.Key.Job {
			s.t.Errorf("job %s runs twice", spec.Key.Job)
		}
	}
	s.procs[a] = true
	a.arm()
	return a, nil
}

// arm sets the timer to the end of the work. The caller holds mu.
func (a *actor) arm() {
	if a.timer != nil {
		a.timer.Stop()
	}
	if a.paused || a.over {
		return
	}
	left := a.stage.work[a.spec.Key.Job]
	a.timer = time.AfterFunc(left.Times(int64(batch.One), int64(a.share)).Std(), func() {
		a.stage.mu.Lock()
		defer a.stage.mu.Unlock()
		a.settle()
		if a.stage.work[a.spec.Key.Job] <= 1 {
			a.finish(Exit{})
		} else {
			a.arm()
		}
	})
}

// settle updates the remaining work. The caller holds mu.
func (a *actor) settle() {
	now := time.Now()
	if !a.paused && !a.over {
		done := now.Sub(a.since).Seconds() * float64(a.share) / float64(batch.One)
		a.stage.work[a.spec.Key.Job] -= batch.Duration(done * float64(batch.Second))
	}
	a.since = now
}

// finish ends the actor when its hosts can report it. The caller holds mu.
func (a *actor) finish(exit Exit) {
	if a.over {
		return
	}
	a.settle()
	a.over = true
	if a.timer != nil {
		a.timer.Stop()
	}
	if a.lost != nil {
		a.lost.Stop()
	}
	delete(a.stage.procs, a)
	a.end <- exit
}

func (a *actor) Signal(sig syscall.Signal) error {
	a.stage.mu.Lock()
	defer a.stage.mu.Unlock()
	if a.over {
		return os.ErrProcessDone
	}
	a.settle()
	switch sig {
	case syscall.SIGSTOP:
		a.paused = true
	case syscall.SIGCONT:
		a.paused = false
	case syscall.SIGUSR1:
		time.AfterFunc(time.Duration(a.stage.rnd.IntN(5000))*time.Millisecond, func() {
			a.stage.mu.Lock()
			defer a.stage.mu.Unlock()
			a.finish(Exit{Code: batch.CheckpointStatus})
		})
	case syscall.SIGKILL, syscall.SIGTERM:
		a.finish(Exit{Signal: sig})
	}
	a.arm()
	return nil
}

func (a *actor) SetShares(allocation []batch.NodeAllocation) error {
	a.stage.mu.Lock()
	defer a.stage.mu.Unlock()
	a.settle()
	a.share = lowest(allocation)
	a.arm()
	return nil
}

func (a *actor) Wait() Exit { return <-a.end }

// set makes a node leave, with its processes lost 33 s later, or return.
func (s *stage) set(node int32, up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down[node] = !up
	for a := range s.procs {
		on := false
		for _, l := range a.spec.Allocation {
			on = on || l.Node == node
		}
		switch {
		case !on:
		case up && a.lost != nil:
			a.lost.Stop()
			a.lost = nil
		case !up && a.lost == nil:
			a.lost = time.AfterFunc(33*time.Second, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				a.finish(Exit{Lost: true})
			})
		}
	}
}

// serve starts further attempts of stopped and lost jobs, as a server does.
func (s *stage) serve(ctx context.Context, sys *System, jobs map[batch.JobID]batch.Job) {
	attempts := make(map[batch.JobID]uint32)
	var at batch.Cursor
	for {
		got, err := sys.Watch(ctx, at)
		if err != nil {
			return
		}
		at = got.Next
		for _, f := range got.Jobs {
			if f.Phase != batch.PhaseEnded || f.Key.Attempt <= attempts[f.Key.Job] {
				continue
			}
			attempts[f.Key.Job] = f.Key.Attempt
			switch f.Outcome.End {
			case batch.EndDone:
				s.mu.Lock()
				s.left--
				s.mu.Unlock()
			case batch.EndStopped, batch.EndLost, batch.EndNeverRan:
				job := jobs[f.Key.Job]
				cmd := batch.Command{Kind: batch.CmdSubmit, Key: f.Key, Job: &job}
				cmd.Key.Attempt++
				if f.Outcome.End == batch.EndStopped {
					cmd.After = f.Key
				}
				if err := sys.Do(ctx, []batch.Command{cmd}); err != nil {
					s.t.Error(err)
				}
			default:
				s.t.Errorf("%s: %+v", f.Key.Job, f.Outcome)
			}
		}
	}
}

// Program implements Programs.
func (s *stage) Program(key batch.Key, _ batch.Shape) (batch.Program, error) {
	p := batch.Program{Args: []string{"x"}}
	if key.Job[0] == 's' {
		p.Checkpoint, p.Stdout = &batch.Checkpoint{Signal: "SIGUSR1", Grace: batch.Minute}, "/saves"
	}
	return p, nil
}

// Jobs with and without checkpoints share hosts that come and go: policy and executor
// agree throughout, no job runs twice, and all end.
func TestFractionalPolicyAndExecutorAgreeUnderRandomEvents(t *testing.T) {
	algorithms := []string{
		"GreedyPM */per/opt=min/minvt=600", "GreedyPM */opt=min", "MCB8 */per/opt=min", "/stretch-per/opt=max",
	}
	seeds := []uint64{
		155, 1359, 4591, // a job that resumes with a returning node gets almost no share
		8683, 11530, 18934, // a job that moves to a smaller share stays beside one that moves to a larger one
	}
	for seed := range uint64(48) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				play(t, rand.New(rand.NewPCG(seed, 9)), algorithms[seed%4]) //nolint:gosec // a test's own
			})
		})
	}
}

func play(t *testing.T, rnd *rand.Rand, algorithm string) {
	platform := batch.Platform{}
	for i := range 3 {
		platform.Nodes = append(platform.Nodes, batch.Node{Name: fmt.Sprint("h", i), Processors: 2, Memory: 8})
	}
	policy, err := dfrs.New(platform, batch.Settings{"algorithm": algorithm, "period": "20s"})
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, rnd: rand.New(rand.NewPCG(rnd.Uint64(), 1)), //nolint:gosec // a test's own
		procs: map[*actor]bool{}, work: map[batch.JobID]batch.Duration{}}
	m := make(measurements)
	s, err := New(Config{
		Policy: policy, Platform: platform, Programs: st, Launcher: st, Hosts: []int32{0, 1, 2}, Fractional: true,
		Measurements: m,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	jobs := map[batch.JobID]batch.Job{}
	served := make(chan struct{})
	st.left = 12
	for i := range st.left {
		kind := []string{"s", "r"}[rnd.IntN(2)]
		id := batch.JobID(kind + strconv.Itoa(i))
		st.work[id] = batch.Duration(5+rnd.IntN(120)) * batch.Second
		jobs[id] = batch.Job{
			Shape: batch.Shape{Width: 1 + rnd.Int32N(3), Walltime: 100 * batch.Hour}, Memory: 1 + rnd.Int64N(3),
			CPU: batch.One >> rnd.IntN(3), Checkpoint: kind == "s", Resident: kind == "r", Name: string(id),
		}
	}
	go func() {
		defer close(served)
		st.serve(ctx, s, jobs)
	}()
	for i := range 12 {
		for _, kind := range []string{"s", "r"} {
			id := batch.JobID(kind + strconv.Itoa(i))
			job, ok := jobs[id]
			if !ok {
				continue
			}
			do(t, s, batch.Command{Kind: batch.CmdSubmit, Key: key(string(id)), Job: &job})
			switch rnd.IntN(4) {
			case 0:
				m <- []Measurement{{Key: key(string(id)), CPU: job.CPU/2 + 1, Memory: job.Memory}}
			case 1:
				node := rnd.Int32N(3)
				up := rnd.IntN(2) == 0
				st.set(node, up)
				time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond) //nolint:forbidigo // virtual time
				setNode(t, s, node, up)
			}
			time.Sleep(time.Duration(rnd.IntN(20000)) * time.Millisecond) //nolint:forbidigo // virtual time
		}
	}
	for n := range int32(3) {
		st.set(n, true)
		setNode(t, s, n, true)
	}
	for range 600 {
		after(10 * time.Second)
		st.mu.Lock()
		left := st.left
		st.mu.Unlock()
		if left == 0 || s.Err() != nil {
			break
		}
	}
	if st.left > 0 || s.Err() != nil || snapshot(t, s).Free != 6 {
		t.Errorf("%s: %d jobs left, %v, %d free: %+v", algorithm, st.left, s.Err(), snapshot(t, s).Free, snapshot(t, s))
	}
	cancel()
	<-served
	if err := s.Close(context.Background()); err != nil && !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

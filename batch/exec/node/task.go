package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// ID names a task: one process of an attempt to run a job.
type ID struct {
	Key  batch.Key
	Rank int32 // from 0
}

// okJob keeps to what is good in the name of a directory and of a control group.
var okJob = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// JobAccepted is what a job's ID may be on a node.
const JobAccepted = "1 to 60 letters, digits, '-' and '_'"

// Validate refuses what cannot be the name of a file.
func (id ID) Validate() error {
	if !okJob.MatchString(string(id.Key.Job)) {
		return fmt.Errorf("job: %.80q, accepted: %s", id.Key.Job, JobAccepted)
	}
	if id.Rank < 0 {
		return fmt.Errorf("rank: %d, accepted: 0 or more", id.Rank)
	}
	return nil
}

// String names the task for a log.
func (id ID) String() string {
	return fmt.Sprintf("%s/%d-%d/%d", id.Key.Job, id.Key.Epoch, id.Key.Attempt, id.Rank)
}

// Compare orders tasks by job, epoch, attempt and rank.
func (id ID) Compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Key.Job, o.Key.Job), cmp.Compare(id.Key.Epoch, o.Key.Epoch),
		cmp.Compare(id.Key.Attempt, o.Key.Attempt), cmp.Compare(id.Rank, o.Rank))
}

// group is the name of its control group.
func (id ID) group() string {
	return fmt.Sprintf("%s-%d-%d-%d", id.Key.Job, id.Key.Epoch, id.Key.Attempt, id.Rank)
}

// dir is the name of the directory of its attempt files. No job's ID has a dot.
func (id ID) dir() string { return string(id.Key.Job) + "." + strconv.Itoa(int(id.Rank)) }

// parseGroup is the reverse of group.
func parseGroup(name string) (ID, bool) {
	var numbers [3]uint64
	rest := name
	for i := 2; i >= 0; i-- {
		at := strings.LastIndexByte(rest, '-')
		if at < 0 {
			return ID{}, false
		}
		n, err := strconv.ParseUint(rest[at+1:], 10, 32)
		if err != nil {
			return ID{}, false
		}
		numbers[i], rest = n, rest[:at]
	}
	id := ID{Key: batch.Key{Job: batch.JobID(rest), Epoch: uint32(numbers[0]), Attempt: uint32(numbers[1])}, Rank: int32(numbers[2])}
	return id, id.Validate() == nil && id.group() == name
}

// TaskSpec is a process with what it is held to.
type TaskSpec struct {
	ID ID
	// Spec is what to run. Only its arguments, environment, directory and outputs are
	// looked at; paths are absolute.
	Spec exec.Spec
	// CPU is how much it gets of the processors; 0 is no limit.
	CPU cgroup.CPU
	// CPUs are the processors, by number, that it runs on; none is all that tasks have.
	CPUs []int
	// Memory is its limit in bytes; 0 is none.
	Memory int64
	// Token covers the order, on a host whose programs live on a lease.
	Token attempt.Token
}

// InvalidError is a task that no host would take.
type InvalidError struct{ Err error }

// Error says which field is wrong, and what would be accepted.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// Validate reports everything that is wrong with a task.
func (t *TaskSpec) Validate() error {
	var errs []error
	errs = append(errs, t.ID.Validate())
	if len(t.Spec.Args) == 0 {
		errs = append(errs, errors.New("arguments: accepted: at least one"))
	}
	if t.CPU < 0 {
		errs = append(errs, fmt.Errorf("cpu: %d, accepted: 0 or more", t.CPU))
	}
	if len(t.CPUs) > 0 && slices.Min(t.CPUs) < 0 {
		errs = append(errs, fmt.Errorf("processors: %d, accepted: 0 or more", slices.Min(t.CPUs)))
	}
	if t.Memory < 0 {
		errs = append(errs, fmt.Errorf("memory: %d, accepted: 0 or more", t.Memory))
	}
	if err := errors.Join(errs...); err != nil {
		return &InvalidError{err}
	}
	return nil
}

// share is CPU as a group takes it.
func share(cpu cgroup.CPU) cgroup.CPU {
	if cpu <= 0 {
		return cgroup.Unlimited
	}
	return cpu
}

// freezePatience is how long Signal waits until all of a task has stopped. Who is
// slower, in a call to a dead file server for example, stops later.
const freezePatience = 50 * time.Millisecond

// Task is a task that runs, or has run.
type Task struct {
	id      ID
	program *supervisor.Attempt
	group   *cgroup.Group // nil: it runs without
	ended   chan struct{}

	mu     sync.Mutex
	exit   exec.Exit
	pinned bool // to cpus, by SetCPUs
	cpus   []int
}

// ID names its task.
func (p *Task) ID() ID { return p.id }

// Started returns when its process was made, by the host's clock.
func (p *Task) Started() time.Time { return p.program.Started() }

// Pid returns the first process of the task, 0 if that is not known.
func (p *Task) Pid() int { return p.program.Pid() }

// Wait returns when nothing of the task is left, or it is detached.
func (p *Task) Wait() exec.Exit {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Detach leaves the task running and makes Wait return, see exec.Detacher.
func (p *Task) Detach() { p.program.Detach() }

func (p *Task) finish(exit exec.Exit) {
	p.mu.Lock()
	p.exit = exit
	p.mu.Unlock()
	close(p.ended)
}

// over reports whether it has ended.
func (p *Task) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Signal sends sig to all processes of the task. SIGSTOP and SIGCONT freeze and thaw
// it, so that no program can tell or refuse; a frozen one takes other signals when it
// goes on, but for SIGKILL. It returns os.ErrProcessDone when it has ended.
func (p *Task) Signal(sig syscall.Signal) error {
	if p.over() {
		return os.ErrProcessDone
	}
	switch {
	case p.group == nil:
	case sig == syscall.SIGSTOP:
		ctx, cancel := context.WithTimeout(context.Background(), freezePatience)
		defer cancel()
		err := p.group.Freeze(ctx)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		return p.gone(err)
	case sig == syscall.SIGCONT:
		return p.gone(p.group.Thaw())
	case sig == syscall.SIGKILL:
		// The supervisor kills all of it; thawed here, it dies where the freezer would
		// hold it up and another process thaws nothing.
		if err := p.program.Signal(sig); err != nil {
			return err
		}
		if err := p.group.Thaw(); !errors.Is(err, cgroup.ErrVanished) {
			return err
		}
		return nil // it has died of it already, or nothing holds it up any more
	}
	return p.program.Signal(sig)
}

// gone is an error of its group, which is removed when it has ended: then it says that
// it has. Else a controller has vanished under a task that runs.
func (p *Task) gone(err error) error {
	if errors.Is(err, cgroup.ErrVanished) {
		if ended := p.program.Signal(0); errors.Is(ended, os.ErrProcessDone) {
			return ended
		}
	}
	return err
}

// Share holds the task to an amount of processors and returns what it really gets;
// 0 is no limit.
func (p *Task) Share(cpu cgroup.CPU) (cgroup.CPU, error) {
	if cpu < 0 {
		return 0, &InvalidError{fmt.Errorf("cpu: %d, accepted: 0 or more", cpu)}
	}
	if p.group == nil {
		return 0, cgroup.ErrNotOffered
	}
	got, err := p.group.SetShare(share(cpu))
	return got, p.gone(err)
}

// Use measures the task.
func (p *Task) Use() (cgroup.Use, error) {
	if p.group == nil {
		return cgroup.Use{}, cgroup.ErrNotOffered
	}
	u, err := p.group.Use()
	return u, p.gone(err)
}

// statusOf is the end of a task as a status; of one that is detached nothing is known.
func statusOf(e exec.Exit, started time.Time) attempt.Status {
	if e.Detached {
		return attempt.Status{}
	}
	st := attempt.Status{Condition: attempt.Exited, Code: e.Code, Reason: e.Reason, Started: started, Ended: time.Now()}
	switch {
	case e.Lost:
		st.Condition, st.Code = attempt.Lost, 0
	case e.Signal != 0:
		st.Condition, st.Code, st.Signal = attempt.Signaled, 0, e.Signal
	}
	return st
}

// Status says what became of it, so far. It is zero when the task is detached.
func (p *Task) Status() attempt.Status {
	if p.over() {
		return statusOf(p.Wait(), p.Started())
	}
	return attempt.Status{Condition: attempt.Running, Started: p.Started(), Pid: p.Pid()}
}

// mostThreads bounds of how many threads Waited asks.
const mostThreads = 256

// Waited returns how long the threads of the task that live now have been ready to run
// while the host had no processor for them, all together; where it runs is the kernel's
// doing, not its share's. What ends takes its part with it, so it may become less.
func (p *Task) Waited() (time.Duration, error) {
	if p.group == nil {
		return 0, cgroup.ErrNotOffered
	}
	pids, err := p.group.Pids()
	if err != nil {
		return 0, p.gone(err)
	}
	var sum time.Duration
	asked := 0
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/task", pid)
		threads, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended
		}
		for _, thread := range threads {
			if asked++; asked > mostThreads {
				return sum, nil
			}
			text, err := os.ReadFile(filepath.Join(dir, thread.Name(), "schedstat"))
			if err != nil {
				continue // it has ended
			}
			sum += parseWaited(string(text))
		}
	}
	return sum, nil
}

// parseWaited reads time run, time waited and number of turns; 0 for what it does not
// understand.
func parseWaited(text string) time.Duration {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n)
}

// Pin claims processors of the host for its parts, as many as each has, and returns
// their numbers by part, until the host is closed. An error says why there are none, to
// whoever keeps the host: it has not that many, others have them (cgroup.ErrTaken), or it
// cannot hold tasks to them (cgroup.ErrNotOffered).
func (h *Host) Pin(parts []int) ([][]int, error) {
	sum := 0
	for _, n := range parts {
		sum += n
	}
	cpus, err := h.groups.ClaimCPUs(sum)
	if err != nil {
		return nil, err
	}
	all := make([][]int, len(parts))
	for i, n := range parts {
		all[i], cpus = cpus[:n:n], cpus[n:]
	}
	return all, nil
}

// confine finds the processors for all tasks, if they are not to have the host's.
func (h *Host) confine() {
	if h.cfg.Processors == 0 {
		return
	}
	pins, err := h.Pin([]int{h.cfg.Processors})
	if err != nil {
		h.log.Warn("tasks run on any processor of the host", "wanted", h.cfg.Processors, "why", err)
		return
	}
	h.cpus = pins[0]
	h.log.Info("tasks run on some processors of the host only", "processors", h.cpus)
}

// SetCPUs says on which processors of the host, by number, the task runs; none is all
// that the host's groups may have. What is set already costs nothing.
func (p *Task) SetCPUs(cpus []int) error {
	if p.group == nil {
		return cgroup.ErrNotOffered
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinned && slices.Equal(p.cpus, cpus) {
		return nil
	}
	if err := p.group.SetCPUs(cpus); err != nil {
		return p.gone(err)
	}
	p.pinned, p.cpus = true, slices.Clone(cpus)
	return nil
}

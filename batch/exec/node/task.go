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

// okJob accepts names that are valid for a directory and a control group.
var okJob = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// JobAccepted describes a valid job ID on a node.
const JobAccepted = "1 to 60 letters, digits, '-' and '_'"

// Validate refuses an ID that cannot be a file name.
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
	id := ID{
		Key:  batch.Key{Job: batch.JobID(rest), Epoch: uint32(numbers[0]), Attempt: uint32(numbers[1])},
		Rank: int32(numbers[2]),
	}
	return id, id.Validate() == nil && id.group() == name
}

// TaskSpec is a process with its limits.
type TaskSpec struct {
	ID ID
	// Spec is what to run. Only its arguments, environment, directory and outputs are used;
	// paths are absolute.
	Spec exec.Spec
	// CPU is its limit of processor time; 0 is no limit.
	CPU cgroup.CPU
	// CPUs are the numbers of the processors that it runs on; none means those of all tasks.
	CPUs []int
	// Memory is its limit in bytes; 0 is none.
	Memory int64
	// Token is for a host with programs that live on a lease.
	Token attempt.Token
}

// InvalidError is a task that every host refuses.
type InvalidError struct{ Err error }

// Error names the field and the accepted values.
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

// share converts CPU to the share of a group.
func share(cpu cgroup.CPU) cgroup.CPU {
	if cpu <= 0 {
		return cgroup.Unlimited
	}
	return cpu
}

// freezePatience bounds the wait in Signal until all processes of a task have stopped. A
// slower one, in a call to a dead file server for example, stops later.
const freezePatience = 50 * time.Millisecond

// Task is a task that runs, or has run.
type Task struct {
	id      ID
	program *supervisor.Attempt
	group   *cgroup.Group // nil: it has no control group
	ended   chan struct{}

	mu     sync.Mutex
	exit   exec.Exit
	pinned bool // to cpus, by SetCPUs
	cpus   []int
}

// ID names its task.
func (p *Task) ID() ID { return p.id }

// Started returns when its process was started, by the host's clock.
func (p *Task) Started() time.Time { return p.program.Started() }

// Pid returns the leader of its process group, 0 if it is not known.
func (p *Task) Pid() int { return p.program.Pid() }

// Wait returns when all processes of the task are gone, or it is detached.
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

// Signal sends sig to all processes of the task. SIGSTOP and SIGCONT freeze and thaw it,
// which a program cannot notice or refuse; a frozen task handles other signals, except
// SIGKILL, after it is thawed. Signal returns os.ErrProcessDone when the task has ended.
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
		// The supervisor kills all processes. Thaw them here: a freezer of version 1 would
		// delay their end.
		if err := p.program.Signal(sig); err != nil {
			return err
		}
		if err := p.group.Thaw(); !errors.Is(err, cgroup.ErrVanished) {
			return err
		}
		return nil // it has already died, or no freezer holds it
	}
	return p.program.Signal(sig)
}

// gone converts an error of the task's group, which is removed when the task has ended: then
// it returns os.ErrProcessDone. Otherwise a controller has vanished under a running task.
func (p *Task) gone(err error) error {
	if errors.Is(err, cgroup.ErrVanished) {
		if ended := p.program.Signal(0); errors.Is(ended, os.ErrProcessDone) {
			return ended
		}
	}
	return err
}

// Share limits the processor time of the task and returns the limit that it really gets; 0 is
// no limit.
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

// statusOf converts an exit to a status; of a detached task nothing is known.
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

// Status returns what became of the task so far. It is zero when the task is detached.
func (p *Task) Status() attempt.Status {
	if p.over() {
		return statusOf(p.Wait(), p.Started())
	}
	return attempt.Status{Condition: attempt.Running, Started: p.Started(), Pid: p.Pid()}
}

// mostThreads bounds the threads that Waited reads.
const mostThreads = 256

// Waited returns how long the living threads of the task have been ready to run without a
// processor, in total. It depends on the load of the host, not on the task's share. The part
// of a thread disappears with it, so the sum can decrease.
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

// parseWaited parses time run, time waited and number of turns; 0 for any other text.
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

// Pin claims processors of the host for its parts, as many as each part has, and returns
// their numbers by part. The claim lasts until the host is closed. The error is for the
// operator: the host has fewer, others hold them (cgroup.ErrTaken), or it cannot confine
// tasks (cgroup.ErrNotOffered).
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

// confine claims the processors of all tasks, unless they may use all of the host's.
func (h *Host) confine() {
	if h.cfg.Processors == 0 {
		return
	}
	pins, err := h.Pin([]int{h.cfg.Processors})
	if err != nil {
		h.log.Warn("tasks are not confined to processors", "wanted", h.cfg.Processors, "why", err)
		return
	}
	h.cpus = pins[0]
	h.log.Info("tasks are confined to processors", "processors", h.cpus)
}

// SetCPUs sets the numbers of the processors on which the task runs; none means all of the
// host's groups. To set the same again costs nothing.
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

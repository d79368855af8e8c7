package node

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

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

package external_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/external/externaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toy is a batch system in memory: the smallest external.Cluster. It starts jobs in the
// order of submission, as scripts of /bin/sh. Its time limits are whole seconds, which
// it does not enforce.
type toy struct {
	nodes int

	mu   sync.Mutex
	down bool
	last int
	jobs []*toyJob // in the order of submission, ended ones too
	work sync.WaitGroup
}

type toyJob struct {
	sub     external.Submission
	record  external.Record
	held    bool
	submits time.Time
	process *exec.Cmd // nil: it has not started
}

func (j *toyJob) waits() bool { return j.process == nil && !j.record.Over() }
func (j *toyJob) runs() bool  { return j.process != nil && !j.record.Over() }

var errDown = &external.UnreachableError{Command: "toy", Text: "it is down"}

func (c *toy) Title() string { return "Toy" }

func (c *toy) Limit(d batch.Duration) batch.Duration { return d.CeilSeconds() }

func (c *toy) Submit(_ context.Context, s *external.Submission) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.down:
		return "", errDown
	case int(s.Width) > c.nodes:
		return "", &external.RefusedError{Command: "toy", Text: "too wide"}
	}
	return c.add(s), nil
}

// add queues a job. Called with mu held.
func (c *toy) add(s *external.Submission) string {
	c.last++
	id := strconv.Itoa(c.last)
	record := external.Record{ID: id, Name: s.Name, Comment: s.Comment}
	c.jobs = append(c.jobs, &toyJob{sub: *s, record: record, submits: time.Now()})
	c.startReady()
	return id
}

// startReady starts jobs in order while there are free nodes. Called with mu held.
func (c *toy) startReady() {
	free := c.nodes
	for _, j := range c.jobs {
		if j.runs() {
			free -= int(j.sub.Width)
		}
	}
	for _, j := range c.jobs {
		if !j.waits() || j.held {
			continue
		}
		if int(j.sub.Width) > free {
			return
		}
		free -= int(j.sub.Width)
		c.start(j)
	}
}

func (c *toy) start(j *toyJob) {
	cmd := exec.CommandContext(context.Background(), "/bin/sh")
	cmd.Stdin, cmd.Dir = bytes.NewReader(j.sub.Text), j.sub.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	j.process, j.record.Start = cmd, time.Now()
	for n := range j.sub.Width {
		j.record.Nodes = append(j.record.Nodes, fmt.Sprintf("n%d", n+1))
	}
	if err := cmd.Start(); err != nil {
		c.end(j, external.Failed, 127)
		return
	}
	c.work.Go(func() {
		err := cmd.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if exit, failed := errors.AsType[*exec.ExitError](err); failed {
			c.end(j, external.Failed, exit.ExitCode())
		} else {
			c.end(j, external.Completed, 0)
		}
		c.startReady()
	})
}

// end records the first end of a job. Called with mu held.
func (c *toy) end(j *toyJob, cause external.Cause, code int) {
	if !j.record.Over() {
		j.record.Cause, j.record.State = cause, fmt.Sprintf("cause %d", cause)
		j.record.Code, j.record.End = max(code, 0), time.Now()
	}
}

// cancel ends a job. Called with mu held.
func (c *toy) cancel(j *toyJob) {
	if j.runs() {
		_ = syscall.Kill(-j.process.Process.Pid, syscall.SIGKILL) // it may have ended
	}
	c.end(j, external.Cancelled, 0)
}

func (c *toy) Control(_ context.Context, action external.Action, ids []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return errDown
	}
	for _, j := range c.jobs {
		switch {
		case !slices.Contains(ids, j.record.ID):
		case action == external.Cancel:
			c.cancel(j)
		default:
			j.held = action == external.Hold
		}
	}
	c.startReady()
	return nil
}

func (c *toy) CancelNamed(_ context.Context, id, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if j.record.ID == id && j.record.Name == name {
			c.cancel(j)
		}
	}
	c.startReady()
	return nil
}

func (c *toy) List(context.Context) ([]external.Job, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return nil, errDown
	}
	var list []external.Job
	for _, j := range c.jobs {
		if j.record.Over() {
			continue
		}
		entry := external.Job{
			ID: j.record.ID, Phase: batch.PhaseQueued, Processors: j.sub.Width, Limit: c.Limit(j.sub.Limit),
			Submitted: j.submits, Start: j.record.Start, Nodes: j.record.Nodes, Name: j.record.Name,
			Comment: j.record.Comment, Tasks: 1,
		}
		switch {
		case j.runs():
			entry.Phase, entry.Used = batch.PhaseRunning, batch.Duration(time.Since(j.record.Start).Microseconds())
		case j.held:
			entry.Phase = batch.PhaseHeld
		}
		list = append(list, entry)
	}
	return list, nil
}

func (c *toy) Nodes(context.Context) (*external.Nodes, error) {
	nodes := &external.Nodes{}
	for n := range c.nodes {
		nodes.List = append(nodes.List, external.Node{Name: fmt.Sprintf("n%d", n+1), Processors: 1, Usable: true})
	}
	return nodes, nil
}

func (c *toy) Lookup(_ context.Context, ids, names []string) ([]external.Record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return nil, errDown
	}
	var list []external.Record
	for _, j := range c.jobs {
		if slices.Contains(ids, j.record.ID) || slices.Contains(names, j.record.Name) {
			list = append(list, j.record)
		}
	}
	return list, nil
}

func (c *toy) History(context.Context, []string, []string, bool) ([]external.Record, error) {
	return nil, nil
}

// toyRig implements externaltest.Rig.
type toyRig struct{ *toy }

func (r toyRig) Connect() external.Cluster { return r.toy }

func (r toyRig) Interval() time.Duration { return 20 * time.Millisecond }

func (r toyRig) Jobs() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, j := range r.jobs {
		if !j.record.Over() {
			n++
		}
	}
	return n
}

func (r toyRig) SubmitLocal() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	script := external.Script{Text: []byte("exec sleep 600\n")}
	return r.add(&external.Submission{Script: script, Name: "local", Width: 1, Limit: batch.Hour})
}

func (r toyRig) CancelLocal(idOrName string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.record.ID == idOrName || j.record.Name == idOrName {
			r.cancel(j)
		}
	}
	r.startReady()
}

func (r toyRig) Outage() (restore func()) {
	set := func(down bool) {
		r.mu.Lock()
		r.down = down
		r.mu.Unlock()
	}
	set(true)
	return func() { set(false) }
}

func (r toyRig) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		r.cancel(j)
	}
	r.jobs = nil
}

func TestASmallBatchSystemBehavesAsExternalSystemsDo(t *testing.T) {
	externaltest.Run(t, func(t *testing.T, nodes int) externaltest.Rig {
		r := toyRig{&toy{nodes: nodes}}
		t.Cleanup(func() {
			r.Forget()
			r.work.Wait()
		})
		return r
	})
}

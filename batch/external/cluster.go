package external

import (
	"context"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Cluster is the batch system that a System drives: what its users can do with it.
// Its methods may be called from several goroutines. They return an
// *UnreachableError when the cluster does not answer and a *RefusedError when it
// answers and refuses; they wait no longer than a timeout of their own.
type Cluster interface {
	// Title is the name of the batch system in messages: "Slurm".
	Title() string
	// Limit returns the time limit that the cluster makes of a walltime: at least the
	// walltime, rounded up to the cluster's unit.
	Limit(walltime batch.Duration) batch.Duration
	// Submit hands a script over and returns the ID of the new job.
	Submit(ctx context.Context, s *Submission) (id string, err error)
	// Control holds, releases or cancels jobs by ID. It need not report jobs that are
	// unknown, started or ended: the next List shows what happened.
	Control(ctx context.Context, action Action, ids []string) error
	// CancelNamed cancels a job if it still has this name: IDs can be reused.
	CancelNamed(ctx context.Context, id, name string) error
	// List returns the jobs of all users that have not ended.
	List(ctx context.Context) ([]Job, error)
	// Nodes returns the nodes that this site uses.
	Nodes(ctx context.Context) (*Nodes, error)
	// Lookup returns what the controller still knows about jobs, by ID and by name,
	// ended ones included. Unknown jobs are left out. Names are not unique.
	Lookup(ctx context.Context, ids, names []string) ([]Record, error)
	// History returns the records of jobs that the controller has forgotten, by ID and
	// by name. With offline set it does not ask the accounting service. If that service
	// does not answer, History returns an *AccountingError besides what it found
	// elsewhere.
	History(ctx context.Context, ids, names []string, offline bool) ([]Record, error)
}

// Action is a request to a cluster about a job that it has.
type Action uint8

// The actions of Cluster.Control.
const (
	Hold Action = iota + 1
	Release
	Cancel
)

// Submission is one job for a cluster.
type Submission struct {
	Script
	Name    string
	Comment string
	Width   int32          // processors
	Limit   batch.Duration // walltime; the cluster rounds it up
	Delay   batch.Duration // earliest start, from now
}

// Job is one entry of a cluster's queue: a job that has not ended or, for a job
// array, the elements that still wait together.
type Job struct {
	ID         string
	Phase      batch.Phase // PhaseQueued to PhasePaused, by the cluster's word alone
	Partitions string      // comma-separated, where it runs or may run
	Processors int32
	Limit      batch.Duration // batch.Forever: none
	Used       batch.Duration // of Limit
	Submitted  time.Time
	Start      time.Time // when it started or is planned to start; zero: not known
	Priority   int64     // the highest starts first
	Nodes      []string  // where it runs; only for jobs of Drover (see Marked)
	Name       string
	Comment    string
	Tasks      int // number of jobs that this entry stands for, at least 1

	// Blocked: it waits for something else than processors, such as another job.
	Blocked bool
	// AdminHold: an administrator holds it, so Drover must not release it.
	AdminHold bool
}

// started reports whether the cluster says that the job has its nodes.
func (j *Job) started() bool { return j.Phase >= batch.PhaseStarting }

// phase is the phase of Drover's attempt: before it has begun by its own record, a
// running job is still starting.
func (j *Job) phase(begun bool) batch.Phase {
	if j.started() && !begun {
		return batch.PhaseStarting
	}
	return j.Phase
}

// Cause is why a job ended, in the cluster's words.
type Cause uint8

// The causes of Record. The zero Cause is a job that has not ended.
const (
	Failed    Cause = iota + 1 // by itself, or for no more specific reason
	Completed                  // with exit code 0
	TimedOut                   // at its time limit
	Deadline                   // at a deadline of the cluster
	OutOfMemory
	Cancelled
	NodeFailed
	Preempted
	Revoked // another cluster took it over
)

// Record is what a cluster knows about a job, usually one that ended.
type Record struct {
	ID      string
	Cause   Cause
	State   string // the cluster's own word for Cause, for people
	Reason  string
	Code    int    // exit code of the script
	Signal  string // signal that ended the script: "SIGKILL"; "" for none
	Start   time.Time
	End     time.Time
	Nodes   []string // nil: it never got any
	Name    string
	Comment string
}

// Over reports whether the job has ended.
func (r *Record) Over() bool { return r.Cause != 0 }

// neverPlaced reports whether the job was cancelled before it got nodes.
func (r *Record) neverPlaced() bool { return r.Cause == Cancelled && len(r.Nodes) == 0 }

// unobserved reports whether the cluster lost contact with the job's node: the job's
// processes may still run.
func (r *Record) unobserved() bool { return r.Cause == NodeFailed || r.Cause == Revoked }

// Nodes are the nodes of a site.
type Nodes struct {
	List []Node
	// Partitions are those that share nodes with this site; nil: all.
	Partitions map[string]bool
}

// Node is a node of a cluster.
type Node struct {
	Name       string
	Processors int32
	Memory     int64  // bytes
	State      string // the cluster's word for it
	Usable     bool   // jobs run on it, or can
}

// Platform returns the usable nodes as a machine.
func (n *Nodes) Platform() batch.Platform {
	var p batch.Platform
	for i := range n.List {
		if node := &n.List[i]; node.Usable && node.Processors > 0 {
			p.Nodes = append(p.Nodes, batch.Node{Name: node.Name, Processors: node.Processors, Memory: node.Memory})
		}
	}
	return p
}

// contains reports whether a job of these comma-separated partitions competes for the
// nodes.
func (n *Nodes) contains(partitions string) bool {
	if n.Partitions == nil {
		return true
	}
	for p := range strings.SplitSeq(partitions, ",") {
		if n.Partitions[p] {
			return true
		}
	}
	return false
}

// Description is what a cluster is found to be when a server starts.
type Description struct {
	Platform    batch.Platform // all nodes, unusable ones included
	Usable      int32          // processors of the usable nodes
	MaxWidth    int32          // processors that one job can get; 0: no limit
	MaxPerNode  int32          // processors of one node that a job can get; 0: no limit
	MaxWalltime batch.Duration // 0 or batch.Forever: no limit
	// Facts name what else was found, such as versions, for the log and for the
	// Cluster itself after a restart.
	Facts map[string]string
	// Warnings are settings that an operator should know about. Drover works with them.
	Warnings []string
}

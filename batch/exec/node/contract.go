package node

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

// Claimant is a server that uses a node.
type Claimant struct {
	Site string // the name of its site
	ID   string // of its data directory
	Node string // the name under which it knows the node; "" is not checked
}

// Description is what a node reports about itself.
type Description struct {
	Name       string
	Processors int
	Memory     int64  // bytes
	Site       string // that it serves
	Offers     []Offer
	Tasks      int // running
	Version    string
}

// Offer is how a node provides one ability, in the names of package cgroup.
type Offer struct {
	Ability, Way string
	Why          string // it is not provided in a better way
}

// Renewal is the answer to the renewal of a lease.
type Renewal struct {
	Next  attempt.Token // for the next renewal
	Held  bool
	Unfit string // why no task can be launched there now; "" if one can
}

// Sequence numbers a signal, or a set of shares, within a watch. A node ignores one
// that the network delivers after a later one. The zero Sequence is not checked.
type Sequence struct {
	Watch, Number uint64
}

// Before reports whether s was sent before b.
func (s Sequence) Before(b Sequence) bool {
	return s.Watch < b.Watch || s.Watch == b.Watch && s.Number < b.Number
}

// Share is the limit of a task's processor time; 0 is no limit.
type Share struct {
	ID  ID
	CPU cgroup.CPU
}

// Refusal is a share that a node could not set.
type Refusal struct {
	ID     ID
	Reason string // a public message
}

// Measurement is what a task uses.
type Measurement struct {
	ID  ID
	Use cgroup.Use
	// Waited is Task.Waited, or 0 if it is not known.
	Waited time.Duration
}

// Update is what a watch delivers: the end of a task, measurements, or, as the first
// one, the number of the watch.
type Update struct {
	ID     ID
	Status attempt.Status // of ID; its Condition is 0 if no task has ended
	Use    []Measurement
	Watch  uint64
}

var (
	// ErrUnreachable is wrapped by the error of a call that was not sent.
	ErrUnreachable = errors.New("the node cannot be reached")
	// ErrSilent is wrapped by the error of a call that got no answer.
	ErrSilent = errors.New("the node does not answer")
	// ErrUnclaimed refuses a server that has not claimed the node.
	ErrUnclaimed = errors.New("the node is not claimed yet: renew first")
	// ErrStale refuses a signal or shares of a watch that has ended.
	ErrStale = errors.New("the watch of this call has ended")
	// ErrSlow ends a watch when its server does not keep up.
	ErrSlow = errors.New("the watcher does not keep up")
	// ErrStopping ends a watch when the daemon stops.
	ErrStopping = errors.New("the daemon is stopping")
)

// OwnedError refuses a server that the node does not serve.
type OwnedError struct {
	Site string // that the node serves
	Same bool   // the server has that site's name, but another data directory
}

// Error names the site that the node serves.
func (e *OwnedError) Error() string {
	if e.Same {
		return fmt.Sprintf("this node serves another server of site %s, with another data directory", e.Site)
	}
	return fmt.Sprintf("this node serves site %s", e.Site)
}

// NameError refuses a server that takes this node for another one: it would look here
// for the tasks of that node.
type NameError struct {
	Name string // of this node
}

// Error returns the node's name in a sentence.
func (e *NameError) Error() string { return "this node is called " + e.Name }

// PublicMessage returns an error's text without paths of this host.
func PublicMessage(err error) string {
	var group *cgroup.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &group) && group.Kind != nil:
		return group.Op + ": " + group.Kind.Error()
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

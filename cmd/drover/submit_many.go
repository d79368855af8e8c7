package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
)

// submit --from FILE and submit --array RANGE submit many requests:
//
//	file, array ──▶ entries ──▶ order by dependencies ──▶ check all ──▶ submit, 16 at a time
//	                (submit_file.go)  (submit_order.go)                   │
//	                                    output in the order given ◀───────┘

const (
	submitConnections = 4
	submitWorkers     = 16
	// submitGrace is the time after Ctrl-C in which running submissions can finish.
	submitGrace = 5 * time.Second

	maxIndexes = 10_000    // elements of an array
	indexMark  = "{index}" // replaced by the index in values of arguments and labels
	indexLabel = "index"   // label of each job of an array
)

// entry is one of many requests.
type entry struct {
	service string
	request request
	line    int  // of the file; 0 for none
	index   *int // of the array; nil for none
	args    []client.Arg

	name      string        // other entries can depend on it; may be empty
	ownAfter  bool          // request.After is its own and can contain names of entries
	needs     []need        // the entries that it depends on
	submitted chan struct{} // closed when id is set, or never will be
	id        string        // of its job; read only after submitted is closed
}

// position names the entry in messages.
func (e *entry) position() string {
	if e.index != nil {
		return fmt.Sprintf("index %d", *e.index)
	}
	return fmt.Sprintf("line %d", e.line)
}

// submitResult is the result of submitting an entry.
type submitResult struct {
	job *client.Job
	err error
}

// array submits one request per index of --array.
func (c *submitCmd) array(a *app, now time.Time) error {
	indexes, err := parseRange(*c.Array, maxIndexes)
	if err != nil {
		return &nothingError{&cmdline.UsageError{Message: "--array " + err.Error()}}
	}
	var entries []entry
	for _, i := range indexes {
		entries = append(entries, entry{service: c.Service, request: c.at(i), index: &i})
	}
	return a.submitAll(entries, now)
}

// at returns the request for one index of an array.
func (r *request) at(index int) request {
	at := *r
	text := strconv.Itoa(index)
	at.Args = slices.Clone(r.Args)
	for i, a := range at.Args {
		if name, value, ok := strings.Cut(a, "="); ok {
			at.Args[i] = name + "=" + strings.ReplaceAll(value, indexMark, text)
		}
	}
	at.Label = map[string]string{indexLabel: text}
	maps.Copy(at.Label, r.Label)
	for k, v := range at.Label {
		at.Label[k] = strings.ReplaceAll(v, indexMark, text)
	}
	return at
}

// submitAll submits many requests and prints the results in the order of entries. It
// first checks all of them: if one is malformed, it submits none.
//
// A refused request does not stop the others. Any other error does, such as a grid that
// does not answer: then submitAll starts no further submission, as after Ctrl-C. It
// returns the first error in the order of entries.
func (a *app) submitAll(entries []entry, now time.Time) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	order, err := a.prepareAll(grid, entries, now)
	if err != nil {
		return &nothingError{err}
	}
	// A running submission may already be accepted: wait for its answer after Ctrl-C.
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	defer cancel()
	defer context.AfterFunc(a.ctx, func() { time.AfterFunc(submitGrace, cancel) })()
	grids := []*client.Client{grid}
	for len(grids) < min(submitConnections, len(entries)) {
		g, err := a.open()
		if err != nil {
			return err
		}
		defer g.Close()
		grids = append(grids, g)
	}
	var (
		turn     atomic.Int64
		line     = &progress{app: a}
		first    error
		last     string
		accepted int
	)
	printer := newReorderer(order, func(i int, r submitResult) {
		line.clear()
		err := r.err
		if err == nil {
			accepted++
			last = r.job.ID
			err = a.printSubmitted(&entries[i], r.job)
		} else {
			if id := possibleJob(err); id != "" {
				last = id
			}
			err = cmdline.ExitError(reportEntry(a.Process, a.flags.JSON, fmt.Errorf("%s: %w", entries[i].position(),
				err), &entries[i]))
		}
		if first == nil {
			first = err
		}
		line.throttled("submitted %d of %d", accepted, len(entries))
	})
	started := parallel.InOrder(a.ctx, submitWorkers, order, func(i int) (submitResult, bool) {
		e := &entries[i]
		defer close(e.submitted)
		needs, err := e.needArgs(entries)
		if err != nil {
			return submitResult{err: err}, false
		}
		g := grids[int(turn.Add(1))%len(grids)]
		job, err := g.Submit(ctx, e.service, append(e.args, needs...)...)
		if err == nil {
			e.id = job.ID
		}
		return submitResult{job, err}, err != nil && !isRefusal(err)
	}, printer.add)
	printer.flush()
	line.clear()
	a.rememberLast(last, now)
	if started == len(entries) {
		return first
	}
	rest := fmt.Sprintf("%d submitted, and %s", accepted, notStarted(entries, order, started))
	if a.ctx.Err() != nil {
		_, _ = fmt.Fprintf(a.Stderr, "drover: interrupted: %s\n", rest)
		return cmdline.ExitError(cmdline.ExitInterrupted)
	}
	_, _ = fmt.Fprintf(a.Stderr, "drover: %s\n", rest)
	return first
}

// isRefusal reports whether an error is about one request: another request could still
// be accepted.
func isRefusal(err error) bool {
	switch codeOf(err) {
	case cmdline.ExitRefused, cmdline.ExitNotFound, cmdline.ExitNoOffer, cmdline.ExitUsage:
		return true
	}
	return false
}

// nothingError wraps an error because of which no request was submitted.
type nothingError struct{ error }

func (e *nothingError) Unwrap() error { return e.error }

// prepareAll sets the arguments of each entry and checks its files. It returns the
// order of submission.
func (a *app) prepareAll(grid *client.Client, entries []entry, now time.Time) ([]int, error) {
	if err := resolveNames(entries); err != nil {
		return nil, err
	}
	order, err := submissionOrder(entries)
	if err != nil {
		return nil, err
	}
	services, jobs := make(map[string]*client.Service), newDependencyFinder(a, grid)
	for i := range entries {
		e := &entries[i]
		e.submitted = make(chan struct{})
		about := services[e.service]
		if about == nil {
			if about, err = grid.Service(a.ctx, e.service); err != nil {
				return nil, fmt.Errorf("%s: %w", e.position(), err)
			}
			services[e.service] = about
		}
		e.args, err = e.request.arguments(e.service, now, about.Text)
		if usage, ok := errors.AsType[*cmdline.UsageError](err); ok {
			return nil, &cmdline.UsageError{Message: e.position() + ": " + usage.Message, Hint: usage.Hint}
		}
		var after []client.Dependency
		if err == nil {
			err = checkFiles(about, e.request.Args)
		}
		if err == nil {
			after, err = jobs.find(e.request.After)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.position(), err)
		}
		e.args = append(e.args, dependencyArgs(after)...)
	}
	return order, nil
}

// submittedJSON is one line of submit --from or --array with --json.
type submittedJSON struct {
	Job   *client.Job `json:"job"`
	Line  int         `json:"line,omitempty"`
	Index *int        `json:"index,omitempty"`
	Name  string      `json:"name,omitempty"`
}

func (a *app) printSubmitted(e *entry, j *client.Job) error {
	if a.flags.JSON {
		return writeLine(a.Stdout, submittedJSON{Line: e.line, Index: e.index, Name: e.name, Job: j})
	}
	_, err := fmt.Fprintln(a.Stdout, j.ID)
	return err
}

// reorderer emits results in the order of the entries, whatever the order of their
// submission.
type reorderer struct {
	order []int // of submission
	emit  func(i int, r submitResult)
	next  int // the entry to emit next
	early map[int]submitResult
}

func newReorderer(order []int, emit func(i int, r submitResult)) *reorderer {
	return &reorderer{order: order, emit: emit, early: make(map[int]submitResult)}
}

// add takes the result of the kth submission.
func (o *reorderer) add(k int, r submitResult) {
	o.early[o.order[k]] = r
	for {
		r, ok := o.early[o.next]
		if !ok {
			return
		}
		delete(o.early, o.next)
		o.emit(o.next, r)
		o.next++
	}
}

// flush emits the results that follow an entry that was never submitted.
func (o *reorderer) flush() {
	for i := o.next; len(o.early) > 0; i++ {
		if r, ok := o.early[i]; ok {
			delete(o.early, i)
			o.emit(i, r)
		}
	}
}

// notStarted says which requests were not started: all but the first ones of order.
func notStarted(entries []entry, order []int, started int) string {
	first := slices.Min(order[started:])
	if first == started { // all following ones
		return fmt.Sprintf("none from %s on", entries[first].position())
	}
	return fmt.Sprintf("%d were not, the first of them %s", len(order)-started, entries[first].position())
}

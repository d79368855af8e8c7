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

const (
	// bulkConnections is how many connections many submissions go over, and bulkWorkers
	// how many are under way at a time.
	bulkConnections = 4
	bulkWorkers     = 16
	// bulkGrace is how long those that are under way have after Ctrl-C.
	bulkGrace = 5 * time.Second
)

// wish is one request of many.
type wish struct {
	service string
	request request
	line    int  // of the file; 0: of none
	index   *int // of the array; nil: of none
	args    []client.Arg

	label    string        // by which others can come after it; empty for none
	ownAfter bool          // what it comes after was said for it alone: names of others, too
	needs    []need        // those of the others that it comes after
	settled  chan struct{} // closed when it has an ID, or never gets one
	id       string        // of its job; may be read when settled is closed
}

// name says which of the requests it is.
func (w *wish) name() string {
	if w.index != nil {
		return fmt.Sprintf("index %d", *w.index)
	}
	return fmt.Sprintf("line %d", w.line)
}

// placed is what came of a wish.
type placed struct {
	job *client.Job
	err error
}

// submitAll submits many requests, each after those that it comes after, and tells of each
// in the order in which they were given. Nothing is submitted before all of them are known
// to be well formed.
//
// One that the grid refuses does not keep the others back. An error that is not about the
// request, as that nobody answers, does: no further one is begun. So does Ctrl-C. It exits
// as the first one that failed.
func (a *app) submitAll(wishes []wish, now time.Time) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	order, err := a.makeReady(grid, wishes, now)
	if err != nil {
		return &nothingError{err}
	}
	// What is under way may have been accepted: it is heard, not broken off.
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	defer cancel()
	defer context.AfterFunc(a.ctx, func() { time.AfterFunc(bulkGrace, cancel) })()
	grids := []*client.Client{grid}
	for len(grids) < min(bulkConnections, len(wishes)) {
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
	printer := newTeleprinter(order, func(i int, p placed) {
		line.clear()
		err := p.err
		if err == nil {
			accepted++
			last = p.job.ID
			err = a.printPlaced(&wishes[i], p.job)
		} else {
			if id := mayBe(err); id != "" {
				last = id
			}
			err = cmdline.ExitError(reportOf(a.Process, a.flags.JSON, fmt.Errorf("%s: %w", wishes[i].name(), err), &wishes[i]))
		}
		if first == nil {
			first = err
		}
		line.often("submitted %d of %d", accepted, len(wishes))
	})
	begun := parallel.InOrder(a.ctx, bulkWorkers, order, func(i int) (placed, bool) {
		w := &wishes[i]
		defer close(w.settled)
		others, err := w.afterOthers(wishes)
		if err != nil {
			return placed{err: err}, false
		}
		g := grids[int(turn.Add(1))%len(grids)]
		job, err := g.Submit(ctx, w.service, append(w.args, others...)...)
		if err == nil {
			w.id = job.ID
		}
		return placed{job, err}, err != nil && !ofRequest(err)
	}, printer.tell)
	printer.rest()
	line.clear()
	a.keepLast(last, now)
	if begun == len(wishes) {
		return first
	}
	rest := fmt.Sprintf("%d submitted, and %s", accepted, notBegun(wishes, order, begun))
	if a.ctx.Err() != nil {
		_, _ = fmt.Fprintf(a.Stderr, "drover: interrupted: %s\n", rest)
		return cmdline.ExitError(cmdline.ExitInterrupted)
	}
	_, _ = fmt.Fprintf(a.Stderr, "drover: %s\n", rest)
	return first
}

// ofRequest says whether an error is about one request: the next one may do better.
func ofRequest(err error) bool {
	switch codeOf(err) {
	case cmdline.ExitRefused, cmdline.ExitNotFound, cmdline.ExitNoOffer, cmdline.ExitUsage:
		return true
	}
	return false
}

// nothingError is what keeps all of many requests from being submitted.
type nothingError struct{ error }

func (e *nothingError) Unwrap() error { return e.error }

// makeReady gives each wish its arguments, and finds the first that cannot be sent. It
// returns the order in which to submit them.
func (a *app) makeReady(grid *client.Client, wishes []wish, now time.Time) ([]int, error) {
	if err := link(wishes); err != nil {
		return nil, err
	}
	order, err := sequence(wishes)
	if err != nil {
		return nil, err
	}
	known, jobs := make(map[string]*client.Service), newFinder(a, grid)
	for i := range wishes {
		w := &wishes[i]
		w.settled = make(chan struct{})
		about := known[w.service]
		if about == nil {
			var err error
			if about, err = grid.Service(a.ctx, w.service); err != nil {
				return nil, fmt.Errorf("%s: %w", w.name(), err)
			}
			known[w.service] = about
		}
		var err error
		w.args, err = w.request.arguments(w.service, now, about.Text)
		if e, ok := errors.AsType[*cmdline.UsageError](err); ok {
			return nil, &cmdline.UsageError{Message: w.name() + ": " + e.Message, Hint: e.Hint}
		}
		var after []client.Dependency
		if err == nil {
			err = misfit(about, w.request.Args)
		}
		if err == nil {
			after, err = jobs.after(w.request.After)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name(), err)
		}
		w.args = append(w.args, afterArgs(after)...)
	}
	return order, nil
}

// submittedView is a job, and which of the requests it came of.
type submittedView struct {
	jobView

	Line  int    `json:"line,omitempty"`
	Index *int   `json:"index,omitempty"`
	Name  string `json:"name,omitempty"`
}

// printPlaced prints one of many jobs.
func (a *app) printPlaced(w *wish, j *client.Job) error {
	if a.flags.JSON {
		return writeLine(a.Stdout, submittedView{jobView: one(j), Line: w.line, Index: w.index, Name: w.label})
	}
	_, err := fmt.Fprintln(a.Stdout, j.ID)
	return err
}

// teleprinter tells of many requests in the order in which they were written, whatever
// the order in which they were submitted.
type teleprinter struct {
	order []int // of submission
	say   func(i int, p placed)
	next  int // to be told of
	early map[int]placed
}

func newTeleprinter(order []int, say func(i int, p placed)) *teleprinter {
	return &teleprinter{order: order, say: say, early: make(map[int]placed)}
}

// tell takes what came of the kth that was submitted.
func (t *teleprinter) tell(k int, p placed) {
	t.early[t.order[k]] = p
	for {
		p, ok := t.early[t.next]
		if !ok {
			return
		}
		delete(t.early, t.next)
		t.say(t.next, p)
		t.next++
	}
}

// rest tells of those behind one that was never begun.
func (t *teleprinter) rest() {
	for i := t.next; len(t.early) > 0; i++ {
		if p, ok := t.early[i]; ok {
			delete(t.early, i)
			t.say(i, p)
		}
	}
}

// notBegun says which requests were not begun: all but the first so many of an order.
func notBegun(wishes []wish, order []int, begun int) string {
	first := slices.Min(order[begun:])
	if first == begun { // then it is all those behind it
		return fmt.Sprintf("none from %s on", wishes[first].name())
	}
	return fmt.Sprintf("%d were not, the first of them %s", len(order)-begun, wishes[first].name())
}

const (
	// mostIndexes bounds the elements of an array.
	mostIndexes = 10_000
	// indexMark is what stands for the index in values.
	indexMark = "{index}"
	// indexLabel is the label that every job of an array has.
	indexLabel = "index"
)

// parseRange reads a list of numbers: 1-100, 0-90:10, 7, 1,5-9. They ascend.
func parseRange(text string, most int) ([]int, error) {
	bad := func(why string) error {
		return fmt.Errorf("%q%s, accepted: ascending numbers as 1-100, 0-90:10 or 1,5-9, %d at most", text, why, most)
	}
	number := func(digits string) (int, bool) {
		n, err := strconv.ParseUint(digits, 10, 31)
		return int(n), err == nil
	}
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, ":")
		fromText, toText, isRange := strings.Cut(span, "-")
		from, ok := number(fromText)
		to, step := from, 1
		if ok && isRange {
			to, ok = number(toText)
		}
		if ok && stepped {
			step, ok = number(stepText)
			ok = ok && isRange && step > 0
		}
		switch {
		case !ok:
			return nil, bad("")
		case to < from:
			return nil, bad(": the range goes down")
		case len(list) > 0 && from <= list[len(list)-1]:
			return nil, bad(fmt.Sprintf(": %d comes after %d", from, list[len(list)-1]))
		case (to-from)/step+1 > most-len(list):
			return nil, bad(": too many")
		}
		for i := from; i <= to; i += step {
			list = append(list, i)
		}
	}
	return list, nil
}

// array submits one request for each index.
func (c *submitCmd) array(a *app, now time.Time) error {
	indexes, err := parseRange(*c.Array, mostIndexes)
	if err != nil {
		return &nothingError{&cmdline.UsageError{Message: "--array " + err.Error()}}
	}
	var wishes []wish
	for _, i := range indexes {
		wishes = append(wishes, wish{service: c.Service, request: c.at(i), index: &i})
	}
	return a.submitAll(wishes, now)
}

// at returns the request of one index of an array.
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

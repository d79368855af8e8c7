package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
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

// submitAll submits many requests, and tells of each in their order. Nothing is submitted
// before all of them are known to be well formed.
//
// One that the grid refuses does not keep the others back. An error that is not about the
// request, as that nobody answers, does: no further one is begun. So does Ctrl-C. It exits
// as the first one that failed.
func (a *app) submitAll(wishes []wish, now time.Time) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	if err := a.makeReady(grid, wishes, now); err != nil {
		return err
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
	begun := inOrder(a.ctx, bulkWorkers, wishes, func(w wish) (placed, bool) {
		g := grids[int(turn.Add(1))%len(grids)]
		job, err := g.Submit(ctx, w.service, w.args...)
		return placed{job, err}, err != nil && !ofRequest(err)
	}, func(i int, p placed) {
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
			err = exitError(reportOf(a.process, a.flags.JSON, fmt.Errorf("%s: %w", wishes[i].name(), err), &wishes[i]))
		}
		if first == nil {
			first = err
		}
		line.often("submitted %d of %d", accepted, len(wishes))
	})
	line.clear()
	a.keepLast(last, now)
	if begun == len(wishes) {
		return first
	}
	rest := fmt.Sprintf("%d submitted, and none from %s on", accepted, wishes[begun].name())
	if a.ctx.Err() != nil {
		_, _ = fmt.Fprintf(a.stderr, "drover: interrupted: %s\n", rest)
		return exitError(exitInterrupted)
	}
	_, _ = fmt.Fprintf(a.stderr, "drover: %s\n", rest)
	return first
}

// ofRequest says whether an error is about one request: the next one may do better.
func ofRequest(err error) bool {
	switch codeOf(err) {
	case exitRefused, exitNotFound, exitNoOffer, exitUsage:
		return true
	}
	return false
}

// makeReady gives each wish its arguments, and finds the first that cannot be sent.
func (a *app) makeReady(grid *client.Client, wishes []wish, now time.Time) error {
	known := make(map[string]*client.Service)
	for i := range wishes {
		w := &wishes[i]
		about := known[w.service]
		if about == nil {
			var err error
			if about, err = grid.Service(a.ctx, w.service); err != nil {
				return fmt.Errorf("%s: %w", w.name(), err)
			}
			known[w.service] = about
		}
		var err error
		w.args, err = w.request.arguments(w.service, now, about.Text)
		if e, ok := errors.AsType[*usageError](err); ok {
			return &usageError{message: w.name() + ": " + e.message, hint: e.hint}
		}
		if err == nil {
			err = missingFile(about, w.request.Args)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.name(), err)
		}
	}
	return nil
}

// missingFile looks for the files that would be sent.
func missingFile(about *client.Service, args []string) error {
	for _, arg := range args {
		name, path, _ := strings.Cut(arg, "=")
		if known := about.Argument(name); known == nil || known.Type != client.TypeFile {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("argument %s: %w", name, err)
		}
	}
	return nil
}

// submittedView is a job, and which of the requests it came of.
type submittedView struct {
	jobView

	Line  int  `json:"line,omitempty"`
	Index *int `json:"index,omitempty"`
}

// printPlaced prints one of many jobs.
func (a *app) printPlaced(w *wish, j *client.Job) error {
	if a.flags.JSON {
		return writeLine(a.stdout, submittedView{jobView: one(j), Line: w.line, Index: w.index})
	}
	_, err := fmt.Fprintln(a.stdout, j.ID)
	return err
}

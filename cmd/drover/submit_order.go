package main

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// Requests of a file may come after one another, by their names. A job can be named only
// when it exists, so they are submitted in the order of their dependencies, those of
// equal right in the order of the file:
//
//	line 1  {"name": "join", "after": ["b", "c"]}      4
//	line 2  {"name": "b", "after": ["a"]}              2
//	line 3  {"name": "c", "after": ["a"]}              3
//	line 4  {"name": "a"}                              1

// need is another request that one comes after.
type need struct {
	of       int // its place among the wishes
	whatever bool
}

// mostCycle bounds how many requests of a cycle are named.
const mostCycle = 10

// link finds out which of the wishes come after which others. What is no name of one has
// to be a job, and stays in the request.
func link(wishes []wish) error {
	named := make(map[string]int)
	for i := range wishes {
		w := &wishes[i]
		if w.label == "" {
			continue
		}
		if first, ok := named[w.label]; ok {
			return &cmdline.UsageError{Message: fmt.Sprintf("%s: the name %q is that of %s, too", w.name(), w.label, wishes[first].name())}
		}
		named[w.label] = i
	}
	for i := range wishes {
		w := &wishes[i]
		if !w.ownAfter {
			continue
		}
		var jobs []string
		for _, text := range w.request.After {
			name, whatever := strings.CutPrefix(text, anyWord)
			if of, ok := named[name]; ok {
				w.needs = append(w.needs, need{of, whatever})
				continue
			}
			if _, _, err := parseAfter(text); err != nil {
				return &cmdline.UsageError{
					Message: fmt.Sprintf("%s: after %q, accepted: the name of another line, or %s", w.name(), text, selectorForms),
					Hint:    afterHint(name),
				}
			}
			jobs = append(jobs, text)
		}
		w.request.After = jobs
	}
	return nil
}

// afterHint is for what names nothing that a request could come after.
func afterHint(text string) string {
	if isTime(text) {
		return "when it may start at the earliest is begin"
	}
	return "drover queue --all lists the jobs"
}

// sequence returns the places of the wishes in an order in which each comes after those
// that it needs, or names a cycle.
func sequence(wishes []wish) ([]int, error) {
	const (
		untouched = iota
		under     // way
		placed
	)
	state := make([]byte, len(wishes))
	order := make([]int, 0, len(wishes))
	var path []int // from the first one to what is being placed
	var place func(i int) error
	place = func(i int) error {
		switch state[i] {
		case placed:
			return nil
		case under:
			return cycleOf(wishes, path, i)
		}
		state[i] = under
		path = append(path, i)
		for _, n := range wishes[i].needs {
			if err := place(n.of); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[i] = placed
		order = append(order, i)
		return nil
	}
	for i := range wishes {
		if err := place(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// cycleOf names the cycle that a path closes by going on to one of its own.
func cycleOf(wishes []wish, path []int, again int) error {
	for path[0] != again {
		path = path[1:]
	}
	var b strings.Builder
	for k, i := range path {
		if k == mostCycle {
			fmt.Fprintf(&b, "%d more, which come after ", len(path)-k)
			break
		}
		fmt.Fprintf(&b, "%s (%s) after ", wishes[i].name(), cmdline.Printable(wishes[i].label))
	}
	fmt.Fprintf(&b, "%s", wishes[again].name())
	return &cmdline.UsageError{Message: "a cycle: " + b.String(), Hint: "a job can come only after jobs that do not wait for it"}
}

// afterOthers returns what a wish says of those that it needs, when they have been
// submitted.
func (w *wish) afterOthers(wishes []wish) ([]client.Arg, error) {
	var args []client.Arg
	for _, n := range w.needs {
		of := &wishes[n.of]
		<-of.settled
		if of.id == "" {
			return nil, &notSubmittedError{of: of.name()}
		}
		args = append(args, afterArgs([]client.Dependency{{Job: of.id, Any: n.whatever}})...)
	}
	return args, nil
}

// notSubmittedError says that a request was not submitted because of another one.
type notSubmittedError struct{ of string }

func (e *notSubmittedError) Error() string {
	return "not submitted: it comes after " + e.of + ", which was not, or may not have been"
}

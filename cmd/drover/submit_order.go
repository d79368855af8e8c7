package main

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// Requests of a file can depend on one another by name. The grid can only name jobs
// that exist, so requests are submitted in the order of their dependencies, otherwise
// in the order of the file:
//
//	line 1  {"name": "join", "after": ["b", "c"]}      4
//	line 2  {"name": "b", "after": ["a"]}              2
//	line 3  {"name": "c", "after": ["a"]}              3
//	line 4  {"name": "a"}                              1

// need is a dependency on another entry.
type need struct {
	of       int // index of the entry
	anyState bool
}

// maxCycle bounds how many requests of a cycle an error lists.
const maxCycle = 10

// resolveNames turns names of entries in request.After into needs. Values that are no
// name of an entry must be jobs and stay in request.After.
func resolveNames(entries []entry) error {
	byName := make(map[string]int)
	for i := range entries {
		e := &entries[i]
		if e.name == "" {
			continue
		}
		if first, ok := byName[e.name]; ok {
			return &cmdline.UsageError{Message: fmt.Sprintf("%s: %s already has the name %q", e.position(),
				entries[first].position(), e.name)}
		}
		byName[e.name] = i
	}
	for i := range entries {
		e := &entries[i]
		if !e.ownAfter {
			continue
		}
		var jobs []string
		for _, text := range e.request.After {
			name, anyState := strings.CutPrefix(text, anyWord)
			if of, ok := byName[name]; ok {
				e.needs = append(e.needs, need{of, anyState})
				continue
			}
			if _, _, err := parseAfter(text); err != nil {
				hint := "drover queue --all lists the jobs"
				if isTime(name) {
					hint = "the earliest start is begin"
				}
				return &cmdline.UsageError{
					Message: fmt.Sprintf("%s: after %q, accepted: the name of another line, or %s", e.position(), text,
						selectorForms),
					Hint: hint,
				}
			}
			jobs = append(jobs, text)
		}
		e.request.After = jobs
	}
	return nil
}

// submissionOrder returns the indexes of the entries, each after the entries that it
// needs. A cycle is an error.
func submissionOrder(entries []entry) ([]int, error) {
	const (
		unseen = iota
		onPath
		ordered
	)
	state := make([]byte, len(entries))
	order := make([]int, 0, len(entries))
	var path []int // from the root of the search to the current entry
	var visit func(i int) error
	visit = func(i int) error {
		switch state[i] {
		case ordered:
			return nil
		case onPath:
			return cycleError(entries, path, i)
		}
		state[i] = onPath
		path = append(path, i)
		for _, n := range entries[i].needs {
			if err := visit(n.of); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[i] = ordered
		order = append(order, i)
		return nil
	}
	for i := range entries {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// cycleError describes the cycle that closes when path reaches entry again.
func cycleError(entries []entry, path []int, again int) error {
	for path[0] != again {
		path = path[1:]
	}
	var b strings.Builder
	for k, i := range path {
		if k == maxCycle {
			fmt.Fprintf(&b, "%d more after ", len(path)-k)
			break
		}
		fmt.Fprintf(&b, "%s (%s) after ", entries[i].position(), cmdline.Printable(entries[i].name))
	}
	fmt.Fprintf(&b, "%s", entries[again].position())
	return &cmdline.UsageError{
		Message: "a cycle: " + b.String(), Hint: "a job can only start after jobs that do not wait for it",
	}
}

// needArgs returns the dependencies on other entries. It waits until those are submitted.
func (e *entry) needArgs(entries []entry) ([]client.Arg, error) {
	var args []client.Arg
	for _, n := range e.needs {
		of := &entries[n.of]
		<-of.submitted
		if of.id == "" {
			return nil, &notSubmittedError{needs: of.position()}
		}
		args = append(args, dependencyArgs([]client.Dependency{{Job: of.id, Any: n.anyState}})...)
	}
	return args, nil
}

// notSubmittedError reports that a request was not submitted because one that it
// depends on was not.
type notSubmittedError struct{ needs string }

func (e *notSubmittedError) Error() string {
	return "not submitted, because it depends on " + e.needs + ", which was not accepted for certain"
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// anyWord stands in front of a job that may end however it does.
const anyWord = "any:"

// afterForms are the ways to name jobs that others come after.
const afterForms = selectorForms + "; with any: in front, however it ends"

// parseAfter reads what was typed for jobs that a request comes after.
func parseAfter(text string) (s selector, whatever bool, err error) {
	name, whatever := strings.CutPrefix(text, anyWord)
	if s, err = parseSelector(name); err == nil {
		return s, whatever, nil
	}
	hint := "drover queue --all lists the jobs"
	if isTime(name) {
		hint = "when it may start at the earliest is --begin " + name
	}
	return s, whatever, &usageError{message: fmt.Sprintf("--after %q, accepted: %s", text, afterForms), hint: hint}
}

// isTime says whether a text is a duration or an instant: what --after was for once.
func isTime(text string) bool {
	_, err := moment("begin", text, time.Time{})
	return err == nil
}

// finder finds jobs of a grid by what was typed for them, and remembers what it found.
type finder struct {
	app   *app
	grid  *client.Client
	known map[string][]client.Dependency
	every *client.JobList // asked for once, nil before
}

func newFinder(a *app, grid *client.Client) *finder {
	return &finder{app: a, grid: grid, known: make(map[string][]client.Dependency)}
}

// after returns the jobs that a request is to come after.
func (f *finder) after(texts []string) ([]client.Dependency, error) {
	var all []client.Dependency
	for _, text := range texts {
		found, ok := f.known[text]
		if !ok {
			var err error
			if found, err = f.find(text); err != nil {
				return nil, err
			}
			f.known[text] = found
		}
		all = append(all, found...)
	}
	return all, nil
}

func (f *finder) find(text string) ([]client.Dependency, error) {
	s, whatever, err := parseAfter(text)
	if err != nil {
		return nil, err
	}
	var every index
	if s.kind == selectPrefix || s.kind == selectRange {
		if f.every == nil {
			if f.every, err = f.grid.Jobs(f.app.ctx, client.JobFilter{}); err != nil {
				return nil, err
			}
			silent(f.app, f.every.Missing, heard)
		}
		every = newIndex(f.every.Jobs)
	}
	ids, err := f.app.match(f.grid, s, every)
	if err != nil {
		return nil, err
	}
	// To wait for another job than the one that was meant would harm.
	if s.kind == selectPrefix && len(f.every.Missing) > 0 {
		return nil, notAlone(f.every.Missing[0].Site, s.text, ids[0])
	}
	var found []client.Dependency
	for _, id := range ids {
		found = append(found, client.Dependency{Job: id, Any: whatever})
	}
	return found, nil
}

// afterArgs are the parts of a request that say what it comes after.
func afterArgs(list []client.Dependency) []client.Arg {
	var args []client.Arg
	for _, d := range list {
		if d.Any {
			args = append(args, client.AfterAny(d.Job))
		} else {
			args = append(args, client.After(d.Job))
		}
	}
	return args
}

// order returns what a request says of when, where and how often it is to be started; not
// of the jobs that it comes after, which have to be found.
func (r *request) order(now time.Time) ([]client.Arg, error) {
	var args []client.Arg
	begin, err := moment("begin", r.Begin, now)
	switch {
	case err != nil:
		return nil, err
	case r.Begin != "" && !begin.After(now):
		return nil, &usageError{message: fmt.Sprintf("--begin %s, accepted: a time to come", r.Begin)}
	case r.Begin != "":
		args = append(args, client.EarliestStart(begin))
	}
	for _, text := range r.After {
		if _, _, err := parseAfter(text); err != nil {
			return nil, err
		}
	}
	if r.Retries < 0 || r.Retries > client.MostRetries {
		return nil, &usageError{message: fmt.Sprintf("--retries %d, accepted: 0..%d", r.Retries, client.MostRetries)}
	}
	codes, err := parseCodes(r.RetryOn)
	if err != nil {
		return nil, err
	}
	if len(codes) > 0 && r.Retries == 0 {
		return nil, &usageError{message: "--retry-on needs --retries", hint: "--retries 3 has it started up to 3 times more"}
	}
	if r.Retries > 0 {
		args = append(args, client.Retry(r.Retries, codes...))
	}
	if r.Site != "" {
		args = append(args, client.AtSite(r.Site))
	}
	return args, nil
}

// parseCodes reads exit codes; none for nothing.
func parseCodes(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	codes, err := parseRange(text, 255)
	if err != nil || slices.Min(codes) < 1 || slices.Max(codes) > 255 {
		return nil, &usageError{message: fmt.Sprintf("--retry-on %q, accepted: ascending exit codes 1..255, as 1,75,100-110", text)}
	}
	return codes, nil
}

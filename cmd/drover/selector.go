package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
)

// selectorForms are the ways to name jobs.
const selectorForms = "a job's ID or its beginning, last, all, or FROM..TO"

// lastWord stands for the job that was submitted last, also where a range begins or ends.
const lastWord = "last"

// selector names jobs. IDs are made in the order of time, and begin with it: so a range
// of them is one of time.
type selector struct {
	kind     selectorKind
	text     string
	from, to string // of a range: each an ID or a beginning, last, or empty for no bound
}

type selectorKind int

const (
	selectID selectorKind = iota
	selectPrefix
	selectLast
	selectAll
	selectRange
)

// parseSelector reads what was typed for a job.
func parseSelector(text string) (selector, error) {
	bad := &usageError{
		message: fmt.Sprintf("job %q, accepted: %s", text, selectorForms),
		hint:    "drover queue --all lists the jobs",
	}
	switch text {
	case "":
		return selector{}, bad
	case lastWord:
		return selector{kind: selectLast, text: text}, nil
	case "all":
		return selector{kind: selectAll, text: text}, nil
	}
	if from, to, ok := strings.Cut(text, ".."); ok {
		bound := func(text string) bool { return text == "" || text == lastWord || beginsID(text) }
		if from == "" && to == "" || !bound(from) || !bound(to) {
			return selector{}, bad
		}
		return selector{kind: selectRange, text: text, from: from, to: to}, nil
	}
	switch {
	case isJobID(text):
		return selector{kind: selectID, text: text}, nil
	case beginsID(text):
		return selector{kind: selectPrefix, text: text}, nil
	}
	return selector{}, bad
}

// beginsID says whether an ID could begin like this.
func beginsID(text string) bool {
	if text == "" || len(text) > 36 {
		return false
	}
	for i, c := range []byte(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// ambiguousError says that the beginning of an ID fits several jobs.
type ambiguousError struct {
	text string
	fits []*client.Job
}

// mostNamed bounds how many jobs an error names.
const mostNamed = 10

func (e *ambiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q fits %d jobs: ", e.text, len(e.fits))
	for i, j := range e.fits {
		if i == mostNamed {
			fmt.Fprintf(&b, "; and %d more", len(e.fits)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s (%s at %s, %s)", j.ID, j.Service, j.Site, j.State)
	}
	return b.String()
}

// index is the jobs of a grid by their IDs, in their order, each once.
type index []*client.Job

func newIndex(jobs []*client.Job) index {
	sorted := slices.Clone(jobs)
	// A job that has moved is listed where it was, too.
	slices.SortStableFunc(sorted, func(a, b *client.Job) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(b.Epoch, a.Epoch))
	})
	return slices.CompactFunc(sorted, func(a, b *client.Job) bool { return a.ID == b.ID })
}

// one returns the ID that begins like this.
func (x index) one(prefix string) (string, error) {
	if isJobID(prefix) {
		return prefix, nil
	}
	from, _ := slices.BinarySearchFunc(x, prefix, func(j *client.Job, p string) int { return cmp.Compare(j.ID, p) })
	to := from
	for to < len(x) && strings.HasPrefix(x[to].ID, prefix) {
		to++
	}
	switch to - from {
	case 0:
		return "", unknownJob(prefix)
	case 1:
		return x[from].ID, nil
	}
	return "", &ambiguousError{text: prefix, fits: x[from:to]}
}

// between returns the jobs of an owner whose IDs lie in a range, its ends included.
func (x index) between(s selector, owner string) ([]string, error) {
	from, to := "", "g" // greater than every ID
	var err error
	if s.from != "" {
		if from, err = x.one(s.from); err != nil {
			return nil, err
		}
	}
	if s.to != "" {
		if to, err = x.one(s.to); err != nil {
			return nil, err
		}
	}
	if from > to {
		return nil, &usageError{message: fmt.Sprintf("%s: the first job is younger than the second", s.text)}
	}
	var ids []string
	for _, j := range x {
		if j.ID >= from && j.ID <= to && j.Owner == owner {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) == 0 {
		return nil, unknownJob(s.text)
	}
	return ids, nil
}

func unknownJob(text string) error {
	return &client.Error{
		Reason: client.ReasonUnknownJob, Field: "job_id", Message: fmt.Sprintf("no site has a job %q", text),
		Hint: "drover queue --all lists the jobs",
	}
}

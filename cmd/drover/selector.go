package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
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
	bad := &cmdline.UsageError{
		Message: fmt.Sprintf("job %q, accepted: %s", text, selectorForms),
		Hint:    "drover queue --all lists the jobs",
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
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("%s: the first job is younger than the second", s.text)}
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
	return &problem.Problem{
		Reason: problem.UnknownJob, Field: "job_id", Message: fmt.Sprintf("no site has a job %q", text),
		Hint: "drover queue --all lists the jobs",
	}
}

// choice is the jobs that a command line names.
type choice struct {
	ids []string // each once
	// single says that one job was named, and one is shown: not a list that happens to
	// have one job.
	single bool
}

// heard is what an incomplete list of jobs means for a search.
const heard = "its jobs are looked for as they were last heard of"

// choose finds out which jobs are meant. With change something is going to be done to
// them: then a beginning that may fit a job of a silent site is no name.
func (a *app) choose(grid *client.Client, texts []string, change bool) (choice, error) {
	var (
		c       choice
		every   index
		missing []client.MissingSite
	)
	selectors := make([]selector, 0, len(texts))
	for _, t := range texts {
		s, err := parseSelector(t)
		if err != nil {
			return c, err
		}
		selectors = append(selectors, s)
	}
	c.single = len(selectors) == 1 && selectors[0].kind != selectAll && selectors[0].kind != selectRange
	if slices.ContainsFunc(selectors, func(s selector) bool { return s.kind == selectPrefix || s.kind == selectRange }) {
		list, err := grid.Jobs(a.ctx, client.JobFilter{})
		if err != nil {
			return c, err
		}
		every, missing = newIndex(list.Jobs), list.Missing
	}
	seen := make(map[string]bool)
	for _, s := range selectors {
		ids, err := a.match(grid, s, every)
		if err != nil {
			silent(a, missing, heard)
			return c, err
		}
		if s.kind == selectPrefix && change && len(missing) > 0 {
			return c, notAlone(missing[0].Site, s.text, ids[0])
		}
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				c.ids = append(c.ids, id)
			}
		}
	}
	silent(a, missing, heard)
	return c, nil
}

// notAlone says that a site is silent where a beginning may fit a job, too.
func notAlone(site, text, id string) error {
	return &problem.Problem{
		Reason: problem.Unreachable, Field: "job_id", Retryable: true,
		Message: fmt.Sprintf("site %s does not answer: whether %q fits a job there, too, is unknown", site, text),
		Hint:    "the whole ID is " + id + ", if that is the one",
	}
}

// match returns the jobs that a selector names.
func (a *app) match(grid *client.Client, s selector, every index) ([]string, error) {
	switch s.kind {
	case selectLast:
		id, err := a.last()
		return []string{id}, err
	case selectAll:
		owner, err := a.owner(s)
		if err != nil {
			return nil, err
		}
		list, err := grid.Jobs(a.ctx, client.JobFilter{State: "active", Owner: owner})
		if err != nil {
			return nil, err
		}
		silent(a, list.Missing, "its jobs are taken as they were last heard of")
		var ids []string
		for _, j := range newIndex(list.Jobs) {
			ids = append(ids, j.ID)
		}
		if len(ids) == 0 && !a.flags.Quiet {
			_, _ = fmt.Fprintf(a.Stderr, "drover: no job of %s that has not ended\n", owner)
		}
		return ids, nil
	case selectRange:
		owner, err := a.owner(s)
		if err != nil {
			return nil, err
		}
		for _, bound := range []*string{&s.from, &s.to} {
			if *bound != lastWord {
				continue
			}
			if *bound, err = a.last(); err != nil {
				return nil, err
			}
		}
		return every.between(s, owner)
	case selectPrefix:
		id, err := every.one(s.text)
		return []string{id}, err
	}
	return []string{s.text}, nil
}

// owner returns whose jobs many are taken from. Without a name they would be everybody's.
func (a *app) owner(s selector) (string, error) {
	cfg, err := a.config()
	if err == nil && cfg.Owner == "" {
		err = &cmdline.UsageError{
			Message: fmt.Sprintf("%q means your own jobs, and USER, which says who you are, is empty", s.text),
			Hint:    "set USER, or name the jobs by their IDs",
		}
	}
	return cfg.Owner, err
}

// chooseOne is choose for a command that is about one job.
func (a *app) chooseOne(grid *client.Client, text string, change bool) (string, error) {
	c, err := a.choose(grid, []string{text}, change)
	if err != nil {
		return "", err
	}
	if len(c.ids) != 1 {
		return "", &cmdline.UsageError{Message: fmt.Sprintf("%q names %d jobs, accepted: one", text, len(c.ids))}
	}
	return c.ids[0], nil
}

// print prints what came of a job: it whole as JSON, or a text. A job of a list is one
// line, and has its ID in front.
func (a *app) print(j *client.Job, single bool, text string) (err error) {
	switch {
	case a.flags.JSON && single:
		return cmdline.WriteJSON(a.Stdout, one(j))
	case a.flags.JSON:
		return writeLine(a.Stdout, one(j))
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, j.ID)
	case single:
		_, err = fmt.Fprintln(a.Stdout, text)
	default:
		_, err = fmt.Fprintln(a.Stdout, j.ID, text)
	}
	return err
}

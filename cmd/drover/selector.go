package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Users name jobs by selectors: an ID, the beginning of an ID, "last", "all" or
// FROM..TO. IDs are UUIDv7 and begin with their time, so a range of IDs is a range
// of time.

// selectorForms describes the accepted selectors.
const selectorForms = "a job's ID or its beginning, last, all, or FROM..TO"

// lastWord selects the job that was submitted last. It can also be an end of a range.
const lastWord = "last"

// selector selects jobs.
type selector struct {
	kind     selectorKind
	text     string
	from, to string // of a range: an ID, the beginning of one, lastWord, or empty for no bound
}

type selectorKind int

const (
	selectID selectorKind = iota
	selectPrefix
	selectLast
	selectAll
	selectRange
)

// parseSelector parses what a user typed for a job.
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
		bound := func(text string) bool { return text == "" || text == lastWord || isIDPrefix(text) }
		if from == "" && to == "" || !bound(from) || !bound(to) {
			return selector{}, bad
		}
		return selector{kind: selectRange, text: text, from: from, to: to}, nil
	}
	switch {
	case isID(text):
		return selector{kind: selectID, text: text}, nil
	case isIDPrefix(text):
		return selector{kind: selectPrefix, text: text}, nil
	}
	return selector{}, bad
}

// isID reports whether text is a complete lower-case UUID.
func isID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// isIDPrefix reports whether an ID can begin with text.
func isIDPrefix(text string) bool {
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

// ambiguousError reports that several IDs begin with the given text.
type ambiguousError struct {
	text    string
	matches []*client.Job
}

// maxListed bounds how many jobs a message lists.
const maxListed = 10

func (e *ambiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q fits %d jobs: ", e.text, len(e.matches))
	for i, j := range e.matches {
		if i == maxListed {
			fmt.Fprintf(&b, "; and %d more", len(e.matches)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s (%s at %s, %s)", j.ID, j.Service, j.Site, j.State)
	}
	return b.String()
}

// index holds the jobs of a grid sorted by ID, each once.
type index []*client.Job

func newIndex(jobs []*client.Job) index {
	sorted := slices.Clone(jobs)
	// The list can contain a moved job twice. The higher epoch is the current one.
	slices.SortStableFunc(sorted, func(a, b *client.Job) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(b.Epoch, a.Epoch))
	})
	return slices.CompactFunc(sorted, func(a, b *client.Job) bool { return a.ID == b.ID })
}

// one returns the only ID that begins with prefix.
func (x index) one(prefix string) (string, error) {
	if isID(prefix) {
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
	return "", &ambiguousError{text: prefix, matches: x[from:to]}
}

// between returns the IDs of an owner's jobs in a range, including both ends.
func (x index) between(s selector, owner string) ([]string, error) {
	from, to := "", "g" // "g" sorts after every ID
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

// selection is the result of selecting jobs.
type selection struct {
	ids []string // each once
	// single: the user named one job. Its output has no ID in front. A list that
	// happens to contain one job is not single.
	single bool
}

// staleSearch tells the user what a silent site means for a search.
const staleSearch = "searching its jobs in the agent's last record of them"

// selectJobs finds the jobs that the user named. With change set, the command is
// about to modify them: then a prefix is refused while a site is silent, because a
// job there could begin with it too.
func (a *app) selectJobs(grid *client.Client, texts []string, change bool) (selection, error) {
	var (
		found   selection
		all     index
		missing []client.MissingSite
	)
	selectors := make([]selector, 0, len(texts))
	for _, t := range texts {
		s, err := parseSelector(t)
		if err != nil {
			return found, err
		}
		selectors = append(selectors, s)
	}
	found.single = len(selectors) == 1 && selectors[0].kind != selectAll && selectors[0].kind != selectRange
	for _, f := range searches(selectors) {
		list, err := grid.Jobs(a.ctx, f)
		if err != nil {
			return found, err
		}
		all = append(all, list.Jobs...)
		for _, m := range list.Missing {
			if !slices.ContainsFunc(missing, func(other client.MissingSite) bool { return other.Site == m.Site }) {
				missing = append(missing, m)
			}
		}
	}
	all = newIndex(all)
	seen := make(map[string]bool)
	for _, s := range selectors {
		ids, err := a.match(grid, s, all)
		if err != nil {
			warnMissing(a, missing, staleSearch)
			return found, err
		}
		if s.kind == selectPrefix && change && len(missing) > 0 {
			return found, uncertainPrefix(missing[0].Site, s.text, ids[0])
		}
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				found.ids = append(found.ids, id)
			}
		}
	}
	warnMissing(a, missing, staleSearch)
	return found, nil
}

// searches returns the lists in which the jobs of prefixes and ranges are found.
func searches(selectors []selector) []client.JobFilter {
	var out []client.JobFilter
	for _, s := range selectors {
		switch s.kind {
		case selectRange:
			return []client.JobFilter{{Brief: true}}
		case selectPrefix:
			out = append(out, client.JobFilter{ID: s.text, Brief: true})
		}
	}
	return out
}

// uncertainPrefix reports that a silent site could have another job with this prefix.
func uncertainPrefix(site, text, id string) error {
	return &problem.Problem{
		Reason: problem.Unreachable, Field: "job_id", Retryable: true,
		Message: fmt.Sprintf("site %s does not answer and could have another job that begins with %q", site, text),
		Hint:    "use the complete ID if it is this job: " + id,
	}
}

// match returns the IDs that a selector selects. all is only needed for prefixes
// and ranges.
func (a *app) match(grid *client.Client, s selector, all index) ([]string, error) {
	switch s.kind {
	case selectLast:
		id, err := a.last()
		return []string{id}, err
	case selectAll:
		owner, err := a.owner(s)
		if err != nil {
			return nil, err
		}
		list, err := grid.Jobs(a.ctx, client.JobFilter{State: "active", Owner: owner, Brief: true})
		if err != nil {
			return nil, err
		}
		warnMissing(a, list.Missing, "using the agent's last record of its jobs")
		var ids []string
		for _, j := range newIndex(list.Jobs) {
			ids = append(ids, j.ID)
		}
		if len(ids) == 0 && !a.flags.Quiet {
			_, _ = fmt.Fprintf(a.Stderr, "drover: %s has no active job\n", owner)
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
		return all.between(s, owner)
	case selectPrefix:
		id, err := all.one(s.text)
		return []string{id}, err
	}
	return []string{s.text}, nil
}

// owner returns the owner of the jobs that "all" and ranges select.
func (a *app) owner(s selector) (string, error) {
	cfg, err := a.config()
	if err == nil && cfg.Owner == "" {
		err = &cmdline.UsageError{
			Message: fmt.Sprintf("%q selects your own jobs, but USER is empty", s.text),
			Hint:    "set USER, or name the jobs by their IDs",
		}
	}
	return cfg.Owner, err
}

// selectJob is selectJobs for a command that takes one job.
func (a *app) selectJob(grid *client.Client, text string, change bool) (string, error) {
	found, err := a.selectJobs(grid, []string{text}, change)
	if err != nil {
		return "", err
	}
	if len(found.ids) != 1 {
		return "", &cmdline.UsageError{Message: fmt.Sprintf("%q selects %d jobs, accepted: one", text, len(found.ids))}
	}
	return found.ids[0], nil
}

// eachJob calls do for one job after the other. An error about one of many jobs is
// printed and the others continue. eachJob returns the first error.
func (a *app) eachJob(jobs selection, do func(id string) error) error {
	var errs jobErrors
	for _, id := range jobs.ids {
		err := do(id)
		if err != nil && a.ctx.Err() != nil {
			return err
		}
		errs.add(a, jobs, id, err)
	}
	return errs.first
}

// jobErrors prints errors about single jobs of a selection and keeps the first one,
// which decides the exit code.
type jobErrors struct{ first error }

func (e *jobErrors) add(a *app, jobs selection, id string, err error) {
	switch {
	case err == nil:
		return
	case !jobs.single: // the error of a single job is printed when the command ends
		err = cmdline.ExitError(report(a.Process, a.flags.JSON, fmt.Errorf("job %s: %w", id, err)))
	}
	if e.first == nil {
		e.first = err
	}
}

// printJob prints the result for one job: the job as JSON, its ID with --quiet, or
// text. Each job of a list takes one line that begins with its ID.
func (a *app) printJob(j *client.Job, single bool, text string) (err error) {
	switch {
	case a.flags.JSON && single:
		return cmdline.WriteJSON(a.Stdout, j)
	case a.flags.JSON:
		return writeLine(a.Stdout, j)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, j.ID)
	case single:
		_, err = fmt.Fprintln(a.Stdout, text)
	default:
		_, err = fmt.Fprintln(a.Stdout, j.ID, text)
	}
	return err
}

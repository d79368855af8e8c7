package main

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/client"
)

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
		missing []client.Missing
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
	return &client.Error{
		Reason: client.ReasonUnreachable, Field: "job_id", Retryable: true,
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
			_, _ = fmt.Fprintf(a.stderr, "drover: no job of %s that has not ended\n", owner)
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
		err = &usageError{
			message: fmt.Sprintf("%q means your own jobs, and USER, which says who you are, is empty", s.text),
			hint:    "set USER, or name the jobs by their IDs",
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
		return "", &usageError{message: fmt.Sprintf("%q names %d jobs, accepted: one", text, len(c.ids))}
	}
	return c.ids[0], nil
}

// print prints what came of a job: it whole as JSON, or a text. A job of a list is one
// line, and has its ID in front.
func (a *app) print(j *client.Job, single bool, text string) (err error) {
	switch {
	case a.flags.JSON && single:
		return writeJSON(a.stdout, one(j))
	case a.flags.JSON:
		return writeLine(a.stdout, one(j))
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.stdout, j.ID)
	case single:
		_, err = fmt.Fprintln(a.stdout, text)
	default:
		_, err = fmt.Fprintln(a.stdout, j.ID, text)
	}
	return err
}

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/reallocation"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
)

// reproCmd is drover-lab repro.
type reproCmd struct {
	Reallocation reproReallocationCmd `cmd:"" help:"The paper on reallocation: its figures and claims beside ours, and its open questions."`
	DynP         reproDynPCmd         `cmd:"" name:"dynp" help:"The paper on self-tuning dynP: its tables beside ours, and what a self-tuning step costs."`
	Overbooking  reproOverbookingCmd  `cmd:"" help:"The paper on overbooking: what overbooking is worth on real logs."`
	DFRS         reproDFRSCmd         `cmd:"" name:"dfrs" help:"The paper on dynamic fractional resource scheduling: its tables beside ours."`
	Convergent   reproConvergentCmd   `cmd:"" help:"The paper on convergent scheduling: deadlines and licenses on a farm of different machines."`
	Growth       reproGrowthCmd       `cmd:"" help:"Draw how one column of a CSV file grows with another, over logarithmic axes."`
}

// row returns a row of a table.
func row(cells ...string) table.Row {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = c
	}
	return r
}

// reproReport is a report of experiments against a paper's.
type reproReport interface {
	Markdown(level int, folder string) string
	Write(dir string) ([]string, error)
}

// experiment is a set of cases with a folder for their rows.
type experiment[C any] struct {
	folder  string // its path
	begunBy string // the version of drover that wrote its first rows
	cases   []C
	has     func(C) bool
	do      func(C) error // runs a case and keeps its row
}

// missing runs the cases that the folder lacks. What is finished stays there, whatever
// ends the rest. A case that is stuck is reported and left out.
func (r *experiment[C]) missing(a *app, workers int, stuck func(error) bool) error {
	if by := cmdline.BuiltFrom(); r.begunBy != by {
		_, err := fmt.Fprintf(a.Stderr,
			"warning: %s was begun by drover %s, this is %s: remove it to start again if the "+
				"policy has changed since\n",
			r.folder, r.begunBy, by)
		if err != nil {
			return err
		}
	}
	rest := slices.DeleteFunc(slices.Clone(r.cases), r.has)
	bar := &cmdline.ProgressBar{Process: a.Process, Unit: "runs"}
	begin, finished := time.Now(), 0
	failures, err := parallel.Map(a.ctx, workers, rest, func(c C) (error, error) {
		err := r.do(c)
		if stuck(err) {
			return err, nil
		}
		return nil, err
	}, func(done int) {
		finished = done
		bar.Report(done, len(rest))
	})
	bar.Finish()
	if a.ctx.Err() != nil {
		err = a.ctx.Err() // instead of one error for each run that it ended
	}
	if err != nil {
		kept := 0
		for _, c := range r.cases {
			if r.has(c) {
				kept++
			}
		}
		return fmt.Errorf("%d of %d rows are kept in %s: %w", kept, len(r.cases), r.folder, err)
	}
	for _, failure := range failures {
		if failure != nil {
			if _, err := fmt.Fprintln(a.Stderr, failure); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(a.Stderr, "%d runs in %.1f s, %d were there\n", finished, time.Since(begin).Seconds(),
		len(r.cases)-len(rest))
	return err
}

// publication says where the report about a paper goes: to a folder, and into a page
// between its marks if doc names one.
type publication struct{ paper, out, doc string }

// publish writes a report, and prints its index with --json, or else what text says of
// so many files.
func (p publication) publish(a *app, r reproReport, text func(files int) error) error {
	page, err := p.page(r)
	if err != nil {
		return err
	}
	names, err := r.Write(p.out)
	if err != nil {
		return err
	}
	if page != nil {
		if err := os.WriteFile(p.doc, page, 0o644); err != nil {
			return fmt.Errorf("--doc: %w", err)
		}
	}
	if !a.flags.JSON {
		return text(len(names))
	}
	index, err := os.ReadFile(filepath.Join(p.out, "report.json"))
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	_, err = a.Stdout.Write(index)
	return err
}

// page returns the page with a report between its marks, nil without a page. The
// report's pictures are in the folder: the page stands elsewhere.
func (p publication) page(r reproReport) ([]byte, error) {
	if p.doc == "" {
		return nil, nil
	}
	page, err := os.ReadFile(p.doc)
	if err != nil {
		return nil, fmt.Errorf("--doc: %w", err)
	}
	from, errFrom := filepath.Abs(filepath.Dir(p.doc))
	to, errTo := filepath.Abs(p.out)
	if err := errors.Join(errFrom, errTo); err != nil {
		return nil, fmt.Errorf("--doc: %w", err)
	}
	folder, err := filepath.Rel(from, to)
	if err != nil {
		return nil, fmt.Errorf("--doc: %w", err)
	}
	page, err = papers.Include(page, p.paper, r.Markdown(2, filepath.ToSlash(folder)+"/"))
	if err != nil {
		return nil, fmt.Errorf("--doc %s: %w", p.doc, err)
	}
	return page, nil
}

// reproExit returns the exit code of an error of an experiment or a report, 0 for others.
func reproExit(err error) int {
	var (
		mismatch *rows.MismatchError
		locked   *rows.LockedError
		parse    *papers.ParseError
		lacking  *reallocation.LackingError
		farmLine *farm.ParseError
		dfrsLine *fractional.ParseError
		table    *csv.ParseError
		job      *fractional.JobError
	)
	for _, target := range []any{&mismatch, &locked, &parse, &lacking, &farmLine, &dfrsLine, &table, &job} {
		if errors.As(err, target) {
			return cmdline.ExitRefused
		}
	}
	return 0
}

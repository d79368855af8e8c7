package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/reallocation"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// reproCmd is drover-lab repro.
type reproCmd struct {
	Reallocation reproReallocationCmd `cmd:"" help:"The paper on reallocation: its figures, its claims beside what we measured, and what it left open."`
	DynP         reproDynPCmd         `cmd:"" name:"dynp" help:"The paper on self-tuning dynP: its tables beside ours, and what a self-tuning step costs."`
	Overbooking  reproOverbookingCmd  `cmd:"" help:"What the paper on overbooking left open: what it is worth on real logs, by what is sold and what is broken."`
	DFRS         reproDFRSCmd         `cmd:"" name:"dfrs" help:"The paper on dynamic fractional resource scheduling: its tables beside ours."`
	Convergent   reproConvergentCmd   `cmd:"" help:"The paper on convergent scheduling: deadlines and licenses on a farm of unlike machines."`
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

// reproExit returns the exit code of an error of a report, 0 for others.
func reproExit(err error) int {
	var (
		parse   *papers.ParseError
		lacking *reallocation.LackingError
	)
	if errors.As(err, &parse) || errors.As(err, &lacking) {
		return cmdline.ExitRefused
	}
	if code := farmExit(err); code != 0 {
		return code
	}
	return dfrsExit(err)
}

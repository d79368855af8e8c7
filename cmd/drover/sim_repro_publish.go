package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// reproReport is a report of experiments against a paper's.
type reproReport interface {
	Markdown(level int, folder string) string
	Write(dir string) ([]string, error)
}

// publication says where a report goes: to a folder, and into a page between two lines
// of it, if there is one.
type publication struct{ out, doc, begin, end string }

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
	_, err = a.stdout.Write(index)
	return err
}

// page returns the page with a report between the two lines, nil if there is none. The
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
	page, err = papers.Include(page, p.begin, p.end, r.Markdown(3, filepath.ToSlash(folder)+"/"))
	if err != nil {
		return nil, fmt.Errorf("--doc %s: %w", p.doc, err)
	}
	return page, nil
}

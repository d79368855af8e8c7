package farm

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
)

// The files of a folder.
const (
	RowsName  = "runs.jsonl"  // a row for each case
	CostsName = "costs.jsonl" // the processor time of each; it differs from run to run
)

// Folder holds the rows of finished cases. Its methods can be called from several
// goroutines.
type Folder struct {
	dir   *rows.Dir
	by    string // the version of drover that made it
	rows  *rows.Table[Case, Row]
	costs *rows.Table[Case, Cost]
}

// about is what the rows of a folder have in common.
type about struct {
	Schema string `json:"schema"`
	By     string `json:"begun_by"` // a version of drover
}

// OpenFolder opens or makes a folder. The error can be a *rows.MismatchError, a
// *rows.LockedError or a *ParseError.
func OpenFolder(dir, by string) (*Folder, error) {
	d, err := rows.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: d}
	if err := f.open(about{Schema, by}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return f, nil
}

func (f *Folder) open(now about) error {
	now, err := rows.Begin(f.dir, now, func(was about) (about, []string) {
		if was.Schema != now.Schema {
			return was, []string{fmt.Sprintf("schema: %q in the folder, %s now", was.Schema, now.Schema)}
		}
		return was, nil
	})
	if err != nil {
		return err
	}
	f.by = now.By
	f.rows, err = rows.OpenTable(f.dir, rows.Format[Case, Row]{
		Name: RowsName, Read: ReadRows,
		Line:    func(r *Row) ([]byte, error) { return lineOf(rowLine{Schema, *r}) },
		Key:     func(r *Row) Case { return r.Case },
		Compare: func(a, b *Row) int { return a.Compare(&b.Case) },
	})
	if err != nil {
		return err
	}
	f.costs, err = rows.OpenTable(f.dir, rows.Format[Case, Cost]{
		Name: CostsName, Read: readCosts,
		Line: func(c *Cost) ([]byte, error) { return lineOf(costLine{Schema, *c}) },
		Key:  func(c *Cost) Case { return c.Case },
	})
	return err
}

// BegunBy returns the version of drover that wrote the first rows. Another version can
// have another policy.
func (f *Folder) BegunBy() string { return f.by }

// Has reports whether a case is finished.
func (f *Folder) Has(c Case) bool { return f.rows.Has(c) }

// Add adds a row and its cost. The cost is written first: no row is without.
func (f *Folder) Add(r *Row, cost *Cost) error {
	if err := f.costs.Add(cost); err != nil {
		return err
	}
	return f.rows.Add(r)
}

// Rows returns the rows of finished cases and their costs, both in the order of the cases.
func (f *Folder) Rows(cases []Case) ([]Row, []Cost) {
	all := f.rows.Rows(cases)
	finished := make([]Case, len(all))
	for i := range all {
		finished[i] = all[i].Case
	}
	return all, f.costs.Rows(finished)
}

// Close puts the rows in order and closes the folder.
func (f *Folder) Close() error { return f.dir.Close() }

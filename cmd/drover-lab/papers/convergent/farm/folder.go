package farm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
)

// The files of a folder.
const (
	RowsName  = "runs.jsonl"  // a row for each case that is done
	CostsName = "costs.jsonl" // what each took: no two starts write the same
	aboutName = "about.json"  // who began
)

// Folder holds the rows of what is done, so that what is begun again goes on. Rows are
// added as they come, and put in order in the end.
//
// Its methods may be called from several goroutines.
type Folder struct {
	dir   *rows.Dir
	by    string // the version of drover that made it
	mu    sync.Mutex
	rows  *rows.Lines
	costs *rows.Lines
	done  map[Case]Row
	took  map[Case]Cost
}

// ForeignError is a folder whose rows are not of this schema.
type ForeignError struct{ Dir, Why string }

// Error says what to do.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("folder %s: %s, accepted: another folder, or remove it to begin anew", e.Dir, e.Why)
}

// about says whose rows a folder has.
type about struct {
	Schema string `json:"schema"`
	By     string `json:"begun_by"` // a version of drover
}

// OpenFolder opens or makes a folder. A last line that was torn is cut off. The error
// may be a *ForeignError, a *rows.LockedError or a *ParseError.
func OpenFolder(dir, by string) (*Folder, error) {
	d, err := rows.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: d, done: map[Case]Row{}, took: map[Case]Cost{}}
	if err := f.open(by); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return f, nil
}

func (f *Folder) open(by string) error {
	if err := f.agree(about{Schema, by}); err != nil {
		return err
	}
	var err error
	f.rows, err = f.dir.Lines(RowsName, func(text []byte) error {
		all, err := ReadRows(text)
		for _, r := range all {
			f.done[r.Case] = r
		}
		return err
	})
	if err != nil {
		return err
	}
	f.costs, err = f.dir.Lines(CostsName, func(text []byte) error {
		all, err := readCosts(text)
		for _, c := range all {
			f.took[c.Case] = c
		}
		return err
	})
	return err
}

// agree compares with what the folder says, and writes it if it says nothing yet.
func (f *Folder) agree(now about) error {
	text, err := f.dir.Read(aboutName)
	if errors.Is(err, fs.ErrNotExist) {
		f.by = now.By
		if text, err = lineOf(now); err != nil {
			return err
		}
		return f.dir.Replace(aboutName, text)
	}
	if err != nil {
		return err
	}
	var was about
	if err := json.Unmarshal(text, &was); err != nil {
		return &ForeignError{f.dir.Path(), fmt.Sprintf("%s: %v", aboutName, err)}
	}
	if was.Schema != now.Schema {
		return &ForeignError{f.dir.Path(), fmt.Sprintf("has rows of schema %q, not %s", was.Schema, now.Schema)}
	}
	f.by = was.By
	return nil
}

// BegunBy returns the version of drover that wrote the first rows: another one's policy
// may decide otherwise.
func (f *Folder) BegunBy() string { return f.by }

// Missing returns the cases that are not done.
func (f *Folder) Missing(cases []Case) []Case {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Case
	for _, c := range cases {
		if _, ok := f.done[c]; !ok {
			all = append(all, c)
		}
	}
	return all
}

// Add adds a row and what it took. The cost is written first: a row is never without.
func (f *Folder) Add(r *Row, cost *Cost) error {
	took, err := lineOf(costLine{Schema, *cost})
	if err != nil {
		return err
	}
	row, err := lineOf(rowLine{Schema, *r})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.costs.Add(took); err != nil {
		return err
	}
	if err := f.rows.Add(row); err != nil {
		return err
	}
	f.done[r.Case], f.took[r.Case] = *r, *cost
	return nil
}

// Rows returns the rows of cases that are done, in order.
func (f *Folder) Rows(cases []Case) []Row {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Row
	for _, c := range cases {
		if r, ok := f.done[c]; ok {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Row) int { return a.Compare(&b.Case) })
	return all
}

// Costs returns what cases that are done took, in order.
func (f *Folder) Costs(cases []Case) []Cost {
	f.mu.Lock()
	defer f.mu.Unlock()
	var costs []Cost
	for _, c := range cases {
		if _, ok := f.done[c]; ok {
			costs = append(costs, f.took[c])
		}
	}
	slices.SortFunc(costs, func(a, b Cost) int { return a.Compare(&b.Case) })
	return costs
}

// Close puts the rows in order, so that the file does not say who was done first.
func (f *Folder) Close() error {
	all := slices.SortedFunc(maps.Values(f.done), func(a, b Row) int { return a.Compare(&b.Case) })
	var b bytes.Buffer
	err := WriteRows(&b, all)
	if err == nil {
		err = f.dir.Replace(RowsName, b.Bytes())
	}
	return errors.Join(err, f.dir.Close())
}

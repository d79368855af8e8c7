package farm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
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
	dir   string
	by    string   // the version of drover that made it
	lock  *os.File // the folder itself, locked while it is open
	mu    sync.Mutex
	rows  *os.File
	costs *os.File
	done  map[Case]Row
	took  map[Case]Cost
}

// LockedError is a folder in which another process is at work.
type LockedError struct{ Dir string }

// Error says what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("folder %s: another process writes rows there, accepted: another folder, or wait until it has ended", e.Dir)
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
// may be a *ForeignError, a *LockedError or a *ParseError.
func OpenFolder(dir, by string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	f := &Folder{dir: dir, lock: lock, done: map[Case]Row{}, took: map[Case]Cost{}}
	if err := f.open(by); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *Folder) open(by string) error {
	err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return &LockedError{f.dir}
	case err != nil:
		return fmt.Errorf("locking %s: %w", f.dir, err)
	}
	if err := f.agree(about{Schema, by}); err != nil {
		return err
	}
	text, err := f.recover(RowsName, &f.rows)
	if err != nil {
		return err
	}
	rows, err := ReadRows(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.rows.Name(), err)
	}
	for _, r := range rows {
		f.done[r.Case] = r
	}
	if text, err = f.recover(CostsName, &f.costs); err != nil {
		return err
	}
	costs, err := readCosts(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.costs.Name(), err)
	}
	for _, c := range costs {
		f.took[c.Case] = c
	}
	return nil
}

// agree compares with what the folder says, and writes it if it says nothing yet.
func (f *Folder) agree(now about) error {
	path := filepath.Join(f.dir, aboutName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		f.by = now.By
		if text, err = lineOf(now); err != nil {
			return err
		}
		return replace(path, text)
	}
	if err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	var was about
	if err := json.Unmarshal(text, &was); err != nil {
		return &ForeignError{f.dir, fmt.Sprintf("%s: %v", aboutName, err)}
	}
	if was.Schema != now.Schema {
		return &ForeignError{f.dir, fmt.Sprintf("has rows of schema %q, not %s", was.Schema, now.Schema)}
	}
	f.by = was.By
	return nil
}

// recover opens a file for lines to be added, cuts off a torn one, and returns those
// that are there.
func (f *Folder) recover(name string, to **os.File) ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	*to = file
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if err := file.Truncate(int64(len(whole))); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return whole, nil
}

// close closes what is open, and gives up the lock.
func (f *Folder) close() error {
	var errs []error
	for _, file := range []*os.File{f.rows, f.costs, f.lock} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
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
	if _, err := f.costs.Write(took); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if _, err := f.rows.Write(row); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	f.done[r.Case], f.took[r.Case] = *r, *cost
	return nil
}

// Rows returns the rows of cases that are done, in order.
func (f *Folder) Rows(cases []Case) []Row {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rows []Row
	for _, c := range cases {
		if r, ok := f.done[c]; ok {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return a.Compare(&b.Case) })
	return rows
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
	var rows []Row
	for _, r := range f.done {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Row) int { return a.Compare(&b.Case) })
	var b bytes.Buffer
	err := WriteRows(&b, rows)
	if err == nil {
		err = replace(filepath.Join(f.dir, RowsName), b.Bytes())
	}
	return errors.Join(err, f.close())
}

// replace writes a file that is there whole or not at all.
func replace(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

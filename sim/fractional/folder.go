package fractional

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The files of a folder.
const (
	RowsName    = "runs.csv"    // a row for each case that is done
	SecondsName = "seconds.csv" // what each took: no two starts write the same
	aboutName   = "about.json"  // see about
)

// Folder holds the rows of what is done, so that what is begun again goes on. Rows are
// added as they come and put in order in the end.
//
// Its methods may be called from several goroutines.
type Folder struct {
	dir    string
	by     string   // the version of drover that made it
	lock   *os.File // the folder itself, locked while it is open
	mu     sync.Mutex
	rows   *os.File
	took   *os.File
	done   map[Case]Row
	bounds map[Case]float64 // of instances: set, trace and load alone
}

// LockedError is a folder in which another process is at work.
type LockedError struct{ Dir string }

// Error says what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("folder %s: another process writes rows there, accepted: another folder, or wait until it has ended", e.Dir)
}

// OpenFolder opens or makes a folder for rows with a penalty, and of a log with a
// digest, if any is of the log, by a version of drover. A last row that was torn is cut
// off. The error may be a *MismatchError, a *LockedError or a *ParseError.
func OpenFolder(dir string, penalty batch.Duration, digest, by string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	f := &Folder{dir: dir, lock: lock, done: map[Case]Row{}, bounds: map[Case]float64{}}
	if err := f.open(about{Schema: Schema, Penalty: penalty.Seconds(), HPC2N: digest, By: by}); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *Folder) open(now about) error {
	err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return &LockedError{f.dir}
	case err != nil:
		return fmt.Errorf("locking %s: %w", f.dir, err)
	}
	if err := f.agree(now); err != nil {
		return err
	}
	if f.rows, err = os.OpenFile(filepath.Join(f.dir, RowsName), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if err := f.recover(); err != nil {
		return fmt.Errorf("%s: %w", f.rows.Name(), err)
	}
	f.took, err = os.OpenFile(filepath.Join(f.dir, SecondsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	return nil
}

// close closes what is open, and gives up the lock.
func (f *Folder) close() error {
	var errs []error
	for _, file := range []*os.File{f.rows, f.took, f.lock} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
}

// recover reads the rows that are there, and cuts off the last one if it was torn.
func (f *Folder) recover() error {
	text, err := io.ReadAll(f.rows)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	rows, err := ReadCSV(bytes.NewReader(whole))
	if err != nil {
		return err
	}
	for i := range rows {
		f.keep(&rows[i])
	}
	if len(whole) == 0 {
		var head bytes.Buffer
		if err := WriteCSV(&head, nil); err != nil {
			return err
		}
		whole = head.Bytes()
		if _, err := f.rows.WriteAt(whole, 0); err != nil {
			return err
		}
	}
	if err := f.rows.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = f.rows.Seek(0, io.SeekEnd)
	return err
}

func (f *Folder) keep(r *Row) {
	f.done[r.Case] = *r
	if r.Bound > 0 {
		f.bounds[Case{Set: r.Set, Trace: r.Trace, Load: r.Load}] = r.Bound
	}
}

// BegunBy returns the version of drover that wrote the first rows: another one's
// policies may decide otherwise.
func (f *Folder) BegunBy() string { return f.by }

// Missing returns the tasks that are not done.
func (f *Folder) Missing(tasks []Task) []Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Task
	for _, t := range tasks {
		if _, ok := f.done[t.Case]; !ok {
			all = append(all, t)
		}
	}
	return all
}

// Bound returns the bound of an instance that a row tells.
func (f *Folder) Bound(in *Instance) (float64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.bounds[Case{Set: in.Set, Trace: in.Trace, Load: in.Load}]
	return b, ok
}

// Add adds a row and what it took.
func (f *Folder) Add(r *Row, seconds float64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.rows.Write(csvLine(r.record())); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	c := r.record()[1:6]
	if _, err := f.took.Write(csvLine(append(c, strconv.FormatFloat(seconds, 'f', 4, 64)))); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	f.keep(r)
	return nil
}

func csvLine(record []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(record) // a buffer takes everything
	w.Flush()
	return b.Bytes()
}

// Rows returns the rows of tasks that are done, in order.
func (f *Folder) Rows(tasks []Task) []Row {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rows []Row
	for _, t := range tasks {
		if r, ok := f.done[t.Case]; ok {
			rows = append(rows, r)
		}
	}
	sortRows(rows)
	return rows
}

func sortRows(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int { return a.Compare(&b.Case) })
}

// Close puts the rows in order, so that the file does not say who was done first.
func (f *Folder) Close() error {
	var rows []Row
	for _, r := range f.done {
		rows = append(rows, r)
	}
	sortRows(rows)
	var b bytes.Buffer
	err := WriteCSV(&b, rows)
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

// digest returns the SHA-256 of a file.
func digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

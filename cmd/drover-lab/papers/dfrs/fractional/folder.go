package fractional

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
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
	dir    *rows.Dir
	by     string // the version of drover that made it
	mu     sync.Mutex
	rows   *rows.Lines
	took   *rows.Lines
	done   map[Case]Row
	bounds map[Case]float64 // of instances: set, trace and load alone
}

// OpenFolder opens or makes a folder for rows with a penalty, and of a log with a
// digest, if any is of the log, by a version of drover. A last row that was torn is cut
// off. The error may be a *MismatchError, a *rows.LockedError or a *ParseError.
func OpenFolder(dir string, penalty batch.Duration, digest, by string) (*Folder, error) {
	d, err := rows.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: d, done: map[Case]Row{}, bounds: map[Case]float64{}}
	if err := f.open(about{Schema: Schema, Penalty: penalty.Seconds(), HPC2N: digest, By: by}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return f, nil
}

func (f *Folder) open(now about) error {
	if err := f.agree(now); err != nil {
		return err
	}
	headless := false
	var err error
	f.rows, err = f.dir.Lines(RowsName, func(text []byte) error {
		headless = len(text) == 0
		all, err := ReadCSV(bytes.NewReader(text))
		for i := range all {
			f.keep(&all[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	if headless {
		var head bytes.Buffer
		if err := WriteCSV(&head, nil); err != nil {
			return err
		}
		if err := f.rows.Add(head.Bytes()); err != nil {
			return err
		}
	}
	f.took, err = f.dir.Lines(SecondsName, func([]byte) error { return nil }) // nobody reads it
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
	if err := f.rows.Add(csvLine(r.record())); err != nil {
		return err
	}
	c := r.record()[1:6]
	if err := f.took.Add(csvLine(append(c, strconv.FormatFloat(seconds, 'f', 4, 64)))); err != nil {
		return err
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
	var all []Row
	for _, t := range tasks {
		if r, ok := f.done[t.Case]; ok {
			all = append(all, r)
		}
	}
	sortRows(all)
	return all
}

func sortRows(all []Row) {
	slices.SortFunc(all, func(a, b Row) int { return a.Compare(&b.Case) })
}

// Close puts the rows in order, so that the file does not say who was done first.
func (f *Folder) Close() error {
	all := slices.Collect(maps.Values(f.done))
	sortRows(all)
	var b bytes.Buffer
	err := WriteCSV(&b, all)
	if err == nil {
		err = f.dir.Replace(RowsName, b.Bytes())
	}
	return errors.Join(err, f.dir.Close())
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

package fractional

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
)

// The files of a folder.
const (
	RowsName    = "runs.csv"    // a row for each case
	SecondsName = "seconds.csv" // the time of each; it differs from run to run
)

// Folder holds the rows of finished cases. Its methods can be called from several
// goroutines.
type Folder struct {
	dir  *rows.Dir
	by   string // the version of drover that made it
	rows *rows.Table[Case, Row]
	took *rows.Lines

	mu     sync.Mutex
	bounds map[Case]float64 // of instances: set, trace and load alone; guarded by mu
}

// about holds the properties that all rows of a folder share.
type about struct {
	Schema  string  `json:"schema"`
	Penalty float64 `json:"penalty_seconds"`
	HPC2N   string  `json:"hpc2n_sha256,omitempty"` // empty before a row of it
	By      string  `json:"begun_by"`               // a version of drover
}

// merge fills in the missing properties. It returns the differences that forbid more rows.
func (now about) merge(was about) (about, []string) {
	var all []string
	differ := func(what, theirs, ours string) {
		if theirs != ours {
			all = append(all, fmt.Sprintf("%s: %s in the folder, %s now", what, theirs, ours))
		}
	}
	seconds := func(s float64) string { return strconv.FormatFloat(s, 'g', -1, 64) + " s" }
	differ("schema", was.Schema, now.Schema)
	differ("penalty", seconds(was.Penalty), seconds(now.Penalty))
	if was.HPC2N != "" && now.HPC2N != "" {
		differ("SHA-256 of "+HPC2NFile, was.HPC2N, now.HPC2N)
	}
	was.HPC2N = cmp.Or(was.HPC2N, now.HPC2N)
	return was, all
}

// OpenFolder opens or makes a folder for rows with a penalty, by a version of drover.
// digest is that of the log HPC2N, empty if no row is about it. The error can be a
// *rows.MismatchError, a *rows.LockedError or a *ParseError.
func OpenFolder(dir string, penalty batch.Duration, digest, by string) (*Folder, error) {
	d, err := rows.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: d, bounds: map[Case]float64{}}
	if err := f.open(about{Schema: Schema, Penalty: penalty.Seconds(), HPC2N: digest, By: by}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return f, nil
}

func (f *Folder) open(now about) error {
	now, err := rows.Begin(f.dir, now, now.merge)
	if err != nil {
		return err
	}
	f.by = now.By
	f.rows, err = rows.OpenTable(f.dir, rows.Format[Case, Row]{
		Name: RowsName, Head: csvLine(Columns),
		Read: func(text []byte) ([]Row, error) {
			all, err := ReadCSV(bytes.NewReader(text))
			for i := range all {
				f.keepBound(&all[i])
			}
			return all, err
		},
		Line:    func(r *Row) ([]byte, error) { return csvLine(r.record()), nil },
		Key:     func(r *Row) Case { return r.Case },
		Compare: func(a, b *Row) int { return a.Compare(&b.Case) },
	})
	if err != nil {
		return err
	}
	f.took, err = f.dir.Lines(SecondsName, func([]byte) error { return nil }) // for people
	return err
}

// BegunBy returns the version of drover that wrote the first rows. Another version can
// have another policy.
func (f *Folder) BegunBy() string { return f.by }

// Has reports whether the folder has a row of the task.
func (f *Folder) Has(t Task) bool { return f.rows.Has(t.Case) }

// Bound returns the bound of an instance that a row has.
func (f *Folder) Bound(in *Instance) (float64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.bounds[Case{Set: in.Set, Trace: in.Trace, Load: in.Load}]
	return b, ok
}

func (f *Folder) keepBound(r *Row) {
	if r.Bound <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bounds[Case{Set: r.Set, Trace: r.Trace, Load: r.Load}] = r.Bound
}

// Add adds a row and the time it took.
func (f *Folder) Add(r *Row, seconds float64) error {
	if err := f.rows.Add(r); err != nil {
		return err
	}
	f.keepBound(r)
	name := r.record()[1:6]
	return f.took.Add(csvLine(append(name, strconv.FormatFloat(seconds, 'f', 4, 64))))
}

// Rows returns the rows of finished tasks, in order.
func (f *Folder) Rows(tasks []Task) []Row {
	cases := make([]Case, len(tasks))
	for i := range tasks {
		cases[i] = tasks[i].Case
	}
	return f.rows.Rows(cases)
}

// Close puts the rows in order and closes the folder.
func (f *Folder) Close() error { return f.dir.Close() }

func csvLine(record []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(record) // a buffer takes everything
	w.Flush()
	return b.Bytes()
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

package campaign

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Tables of a folder.
const (
	ResultsName = "results.csv" // one row per experiment, in the campaign's order
	TimingName  = "timing.csv"  // the cost of each experiment
)

// timingColumns are the columns of timing.csv after those of the key.
var timingColumns = []string{"wall_seconds", "jobs_per_second"}

// folder is the folder with the results of a campaign.
type folder struct {
	dir         string
	journal     *journal
	experiments []Experiment
	rows        [][]string // by experiment; nil until it is done
	walls       []float64  // seconds
	done        int
}

// openFolder opens or creates the folder of a campaign.
func openFolder(dir string, id identity, experiments []Experiment) (*folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	for _, name := range []string{ResultsName, TimingName} {
		if err := onlyWithJournal(dir, name); err != nil {
			return nil, err
		}
	}
	j, records, err := openJournal(dir, &id)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	f := &folder{
		dir: dir, journal: j, experiments: experiments,
		rows: make([][]string, len(experiments)), walls: make([]float64, len(experiments)),
	}
	if err := f.take(records); err != nil {
		return nil, errors.Join(err, j.close())
	}
	return f, nil
}

// onlyWithJournal refuses to overwrite a table that no campaign has written.
func onlyWithJournal(dir, name string) error {
	if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, journalName)); errors.Is(err, fs.ErrNotExist) {
		return &MismatchError{dir, []string{fmt.Sprintf("there is a %s, but no journal", name)}}
	}
	return nil
}

// take enters the rows of the journal.
func (f *folder) take(records []record) error {
	at := make(map[[keys]string]int, len(f.experiments))
	for i := range f.experiments {
		at[f.experiments[i].Key] = i
	}
	for k, r := range records {
		i, known := -1, false
		if len(r.Row) == len(Columns) {
			i, known = at[[keys]string(r.Row)]
		}
		if !known || f.rows[i] != nil {
			return &DamagedError{
				filepath.Join(f.dir, journalName), k + 2, "a row that the campaign does not have, or twice",
			}
		}
		f.rows[i], f.walls[i] = r.Row, r.Wall
		f.done++
	}
	return nil
}

// put adds a row; the row is on disk when put returns.
func (f *folder) put(i int, row []string, wall float64) error {
	if err := f.journal.add(record{row, wall}); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	f.rows[i], f.walls[i] = row, wall
	f.done++
	return nil
}

// same compares a row with that in the journal.
func (f *folder) same(i int, row []string) error {
	for k, was := range f.rows[i] {
		if row[k] != was {
			return &ChangedError{f.dir, f.experiments[i].String(), Columns[k], was, row[k]}
		}
	}
	return nil
}

// write writes the tables with the rows so far.
func (f *folder) write() error {
	err := replace(filepath.Join(f.dir, ResultsName), Columns, func(i int) []string { return f.rows[i] }, len(f.rows))
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	columns := slices.Concat(Columns[:keys], timingColumns)
	err = replace(filepath.Join(f.dir, TimingName), columns, f.timing, len(f.rows))
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// timing returns a row of timing.csv, or nil if it is not known.
func (f *folder) timing(i int) []string {
	if f.rows[i] == nil {
		return nil
	}
	speed := ""
	// row has formatted the column.
	if jobs, err := strconv.Atoi(f.rows[i][keys]); err == nil && f.walls[i] > 0 {
		speed = strconv.FormatFloat(float64(jobs)/f.walls[i], 'f', 0, 64)
	}
	return append(slices.Clone(f.rows[i][:keys]), strconv.FormatFloat(f.walls[i], 'f', 3, 64), speed)
}

// close unlocks the folder.
func (f *folder) close() error { return f.journal.close() }

// replace writes a temporary file and renames it, so a concurrent reader sees the old table or
// the new one.
func replace(path string, columns []string, row func(i int) []string, n int) (err error) {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := writeTable(file, columns, row, n); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func writeTable(file *os.File, columns []string, row func(i int) []string, n int) error {
	buffer := bufio.NewWriter(file)
	w := csv.NewWriter(buffer)
	if err := w.Write(columns); err != nil {
		return err
	}
	for i := range n {
		if r := row(i); r != nil {
			if err := w.Write(r); err != nil {
				return err
			}
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return buffer.Flush()
}

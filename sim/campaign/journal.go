package campaign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/seed-9b8f70bb/drover/sim"
)

// journalName is the file in a folder that records the finished rows.
const journalName = "journal"

// record is one row and its cost.
type record struct {
	Row  []string `json:"row"`
	Wall float64  `json:"wall_seconds"`
}

// journal is a file with one line per row. The first line is the identity. A line is a
// hexadecimal checksum, a space, and JSON.
//
// The file is locked while it is open, so that two processes do not repeat each other's work.
type journal struct {
	file *os.File
}

// openJournal opens or creates the journal of a folder and returns its records. It cuts off a
// torn last line.
func openJournal(dir string, id *identity) (*journal, []record, error) {
	path := filepath.Join(dir, journalName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{file}
	records, err := j.recover(dir, id)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return j, records, nil
}

func (j *journal) recover(dir string, id *identity) ([]record, error) {
	err := syscall.Flock(int(j.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, &LockedError{dir}
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", j.file.Name(), err)
	}
	lines, torn, err := readLines(j.file, j.file.Name())
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, j.begin(dir, id, torn)
	}
	end, err := j.file.Seek(-int64(len(torn)), io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if err := j.file.Truncate(end); err != nil {
		return nil, err
	}
	var theirs identity
	if err := json.Unmarshal(lines[0], &theirs); err != nil {
		return nil, &DamagedError{j.file.Name(), 1, err.Error()}
	}
	if d := id.differences(&theirs); len(d) > 0 {
		return nil, &MismatchError{dir, d}
	}
	records := make([]record, len(lines)-1)
	for i := range records {
		if err := json.Unmarshal(lines[i+1], &records[i]); err != nil {
			return nil, &DamagedError{j.file.Name(), i + 2, err.Error()}
		}
	}
	return records, nil
}

// begin writes the first line. It overwrites a torn first line only if that is a prefix of the
// new one; otherwise the file can belong to another program.
func (j *journal) begin(dir string, id *identity, torn []byte) error {
	first, err := line(id)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(first, torn) {
		return &DamagedError{j.file.Name(), 1, "not of a journal"}
	}
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := j.add(id); err != nil {
		return err
	}
	return syncFolder(dir)
}

// add appends a line; the line is on disk when add returns.
func (j *journal) add(v any) error {
	text, err := line(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	return j.file.Sync()
}

func line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return fmt.Appendf(nil, "%08x %s\n", checksum(text), text), err
}

func (j *journal) close() error { return j.file.Close() }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

// readLines returns the JSON of all lines, and the torn last line if there is one. Only the
// last line can be torn, because each is synced before the next is written.
func readLines(from io.Reader, name string) (lines [][]byte, torn []byte, err error) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if torn != nil {
				return nil, nil, &DamagedError{name, len(lines) + 1, "broken line"}
			}
			if text, ok := content(line); ok {
				lines = append(lines, text)
			} else {
				torn = line
			}
		}
		if errors.Is(err, io.EOF) {
			return lines, torn, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// content returns the JSON of a complete line.
func content(line []byte) ([]byte, bool) {
	sum, text, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	if !ok || len(sum) != 8 || line[len(line)-1] != '\n' {
		return nil, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return text, err == nil && uint32(want) == checksum(text)
}

// syncFolder makes the directory entries of a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// keys is the number of columns that identify the experiment.
const keys = 11

// Columns are the columns of results.csv. Each row is one experiment; the first eleven columns
// identify it. Times are in seconds. Comparisons with a reference are empty in the row of a
// reference, and shares of impacted jobs also if no job is impacted.
var Columns = []string{
	"scenario", "homogeneous", "dedicated", "tuning", "seed", "algorithm", "heuristic", "window", "period_s",
	"threshold_s", "patience",
	"jobs", "grid_jobs", "impacted", "impacted_share", "reallocations", "reallocations_share", "early", "early_share",
	"relative_response", "response_mean", "response_reference", "wait_mean", "bounded_slowdown_mean",
	"bounded_slowdown_reference",
	"killed", "rounds", "questions", "estimates", "later", "kept", "put_back_later_most", "bytes_moved",
}

// rowOf returns the row of an experiment; a reference is compared with itself.
func rowOf(e *Experiment, c *sim.Comparison) []string {
	figures := []struct {
		text     string
		compares bool
	}{
		{whole(c.Jobs), false},
		{whole(c.GridJobs), false},
		{whole(c.Impacted), true},
		{number(c.ImpactedShare), true},
		{whole(c.Reallocations), true},
		{number(c.ReallocationsShare), true},
		{whole(c.Early), true},
		{ofImpacted(c, c.EarlyShare), true},
		{ofImpacted(c, c.RelativeResponse), true},
		{number(c.ResponseMean), false},
		{number(c.ResponseReference), true},
		{number(c.WaitMean), false},
		{number(c.BoundedSlowdownMean), false},
		{number(c.BoundedSlowdownReference), true},
		{whole(c.Killed), false},
		{whole(c.Rounds), false},
		{whole(c.Questions), false},
		{whole(c.Estimates), false},
		{whole(c.Later), false},
		{whole(c.Kept), false},
		{whole(c.LaterMost), false},
		{whole(c.BytesMoved), false},
	}
	row := append(make([]string, 0, len(Columns)), e.Key[:]...)
	for _, f := range figures {
		if e.Reference && f.compares {
			f.text = ""
		}
		row = append(row, f.text)
	}
	return row
}

func ofImpacted(c *sim.Comparison, v float64) string {
	if c.Impacted == 0 {
		return ""
	}
	return number(v)
}

func whole[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// number formats a figure so that parsing it returns the same value.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

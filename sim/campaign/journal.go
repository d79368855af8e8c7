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

// journalName is the file of a folder that says what is done.
const journalName = "journal"

// record is one row in the journal, and what it cost.
type record struct {
	Row  []string `json:"row"`
	Wall float64  `json:"wall_seconds"`
}

// journal is a file to which a line is added for each row. The first line is the
// identity. A line is a checksum in hexadecimal, a space, and JSON.
//
// The file is locked while it is open: two processes would do everything twice.
type journal struct {
	file *os.File
}

// openJournal opens the journal of a folder, and makes it if it is not there. It
// returns the records that it has. A last line that was torn is cut off.
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

// begin writes the first line. A torn first line is overwritten only if it is the beginning
// of this one: the file can belong to another program.
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

// add adds a line and returns when it is on disk.
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

// readLines returns the JSON of all lines, and a last line that was torn: only the
// last can have been, as each is synced before the next is written.
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

// content returns the JSON of a whole line.
func content(line []byte) ([]byte, bool) {
	sum, text, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	if !ok || len(sum) != 8 || line[len(line)-1] != '\n' {
		return nil, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return text, err == nil && uint32(want) == checksum(text)
}

// syncFolder makes durable which files a folder has.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// keys is how many columns name the experiment.
const keys = 11

// Columns are those of results.csv; each row is one experiment. The first eleven name
// it. Times are in seconds. What compares with a reference is empty in a reference,
// and so are shares of impacted jobs where none is.
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

// number writes a figure so that it is read back as the same.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

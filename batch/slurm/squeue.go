package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Row is one line of a queue: a job that has not ended, or, of a job array, the
// elements that still wait together.
type Row struct {
	ID        string // 12, 12_3, 12_[4-9], 12+1
	State     string // in full: PENDING, RUNNING, …
	Reason    string // why it waits or has ended
	User      string
	Partition string
	CPUs      int32
	Nodes     int32
	Limit     batch.Duration // batch.Forever: none
	Used      batch.Duration // of the limit
	Submitted time.Time
	Start     time.Time // when it was started, or is planned to be; zero: not known
	End       time.Time
	Priority  int64
	NodeList  string // where it runs
	Name      string
	Comment   string
	Tasks     int // the jobs that this line stands for
}

// columns are what is asked for, the free text last.
var columns = []string{"%i", "%T", "%r", "%u", "%P", "%C", "%D", "%l", "%M", "%V", "%S", "%e", "%Q", "%N", "%j", "%k"}

// token returns a word that nobody could have written into a name or a comment: it
// is made for one command. Names can have newlines and whatever separates fields.
func token() string { return "~" + rand.Text()[:12] + "~" }

// Queue returns all jobs of a partition, or of all if it is "", that have not
// ended, other people's too, with one command.
func (c *Commands) Queue(ctx context.Context, partition string) ([]Row, error) {
	mark := token()
	args := []string{"squeue", "--noheader", "--format=" + mark + strings.Join(columns, mark)}
	if partition != "" {
		args = append(args, "--partition="+partition)
	}
	out, err := c.run(ctx, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return parseQueue(out, mark)
}

// parseQueue reads records of fields that each begin with mark.
func parseQueue(text, mark string) ([]Row, error) {
	records, err := split("squeue", text, mark, len(columns))
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(records))
	for _, f := range records {
		row, err := parseRow(f)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// split returns the records of an output, n fields each. A field may have newlines.
func split(source, text, mark string, n int) ([][]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	fields := strings.Split(text, mark)
	if strings.TrimSpace(fields[0]) != "" || (len(fields)-1)%n != 0 {
		return nil, &FormatError{Source: source, Field: "records", Value: fields[0]}
	}
	var records [][]string
	for chunk := range slices.Chunk(fields[1:], n) {
		for i := range chunk {
			chunk[i] = strings.TrimSpace(chunk[i])
		}
		records = append(records, chunk)
	}
	return records, nil
}

func parseRow(f []string) (Row, error) {
	r := Row{
		ID: f[0], State: f[1], Reason: f[2], User: f[3], Partition: f[4], NodeList: f[13], Name: f[14], Comment: f[15],
		Tasks: parseTasks(f[0]),
	}
	var problem *FormatError
	check := func(ok bool, at int, field string) {
		if !ok && problem == nil {
			problem = &FormatError{Source: "squeue", Field: field, Value: f[at]}
		}
	}
	var ok bool
	check(r.ID != "" && r.State != "", 0, "job")
	r.CPUs, ok = parseCount(f[5])
	check(ok, 5, "processors")
	r.Nodes, ok = parseCount(f[6])
	check(ok, 6, "nodes")
	r.Limit, ok = parseSpan(f[7])
	check(ok, 7, "time limit")
	r.Used, ok = parseSpan(f[8])
	check(ok, 8, "time used")
	r.Submitted, ok = parseInstant(f[9])
	check(ok, 9, "submission")
	r.Start, ok = parseInstant(f[10])
	check(ok, 10, "start")
	r.End, ok = parseInstant(f[11])
	check(ok, 11, "end")
	r.Priority, ok = parseNumber(f[12])
	check(ok, 12, "priority")
	if problem != nil {
		return Row{}, problem
	}
	return r, nil
}

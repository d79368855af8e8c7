package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Run is what has become of a job.
type Run struct {
	Job       Job
	Cluster   int // where it was submitted first; for the grid's jobs the choice
	Submitted time.Time
	Begun     time.Time // zero: it has not
	Ended     time.Time
	Times     int // how often it has run, which should be once
	Moves     int // between clusters
	// What was said of it when it was submitted, of the cluster it was submitted to;
	// zero where nothing was said.
	Test     time.Time // start, by sbatch --test-only
	Forecast time.Time // start, by Drover
	Expected time.Time // end, by Drover
}

// Response is from submission to end.
func (r *Run) Response() time.Duration { return r.Ended.Sub(r.Submitted) }

// Slowdown is the response over the runtime.
func (r *Run) Slowdown() float64 { return r.Response().Seconds() / r.Job.Runtime.Seconds() }

// Script is what every job runs: its ID, the seconds that it takes, and the file into
// which it writes when it has begun and ended.
const Script = `#!/bin/sh
begun=$(date +%s.%N)
sleep "$2"
echo "$1 $begun $(date +%s.%N)" >> "$3"
`

// Note is a line that a job has written.
type Note struct {
	ID           string
	Begun, Ended time.Time
}

// ReadNotes reads what jobs have written. A last line that is not complete yet is
// left out.
func ReadNotes(r io.Reader) ([]Note, error) {
	var notes []Note
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return notes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("what jobs have written: %w", err)
		}
		n, err := parseNote(line)
		if err != nil {
			return nil, fmt.Errorf("what jobs have written, line %d: %w", len(notes)+1, err)
		}
		notes = append(notes, n)
	}
}

func parseNote(line string) (Note, error) {
	f := strings.Fields(line)
	if len(f) != 3 {
		return Note{}, fmt.Errorf("%.80q, accepted: an ID and two instants", line)
	}
	n := Note{ID: f[0]}
	var err error
	if n.Begun, err = instant(f[1]); err == nil {
		n.Ended, err = instant(f[2])
	}
	return n, err
}

// instant reads seconds since 1970.
func instant(text string) (time.Time, error) {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s > 0 && s < math.MaxInt32) {
		return time.Time{}, fmt.Errorf("%.40q, accepted: seconds since 1970", text)
	}
	whole, part := math.Modf(s)
	return time.Unix(int64(whole), int64(part*1e9)), nil
}

// Fill puts what jobs have written into their runs, and returns how many of them have
// not ended.
func Fill(runs []Run, notes []Note) (missing int) {
	at := make(map[string]*Run, len(runs))
	for i := range runs {
		runs[i].Times = 0
		at[runs[i].Job.ID] = &runs[i]
	}
	for _, n := range notes {
		if r := at[n.ID]; r != nil {
			r.Times++
			if r.Times == 1 {
				r.Begun, r.Ended = n.Begun, n.Ended
			}
		}
	}
	for i := range runs {
		if runs[i].Times == 0 {
			missing++
		}
	}
	return missing
}

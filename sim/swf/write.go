package swf

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Write writes a workload, comments first, with one space between fields. [Read] returns the
// same Header and Jobs if the jobs are in order of submission and comments have no blanks at
// their ends. Write refuses jobs and comments that Read would refuse; the error has the job's
// number, the field and the accepted range. It has then written everything before them.
func Write(w io.Writer, t *Trace) error {
	out := bufio.NewWriterSize(w, blockBytes)
	commentBytes := 0
	for i, c := range t.Header.Comments {
		commentBytes += len(c) + 1
		if strings.Contains(c, "\n") || len(c) >= MaxLineBytes || commentBytes > MaxCommentBytes {
			return fmt.Errorf("swf: write comment %d: a comment is one line of less than %d bytes, all together at "+
				"most %d",
				i+1, MaxLineBytes, MaxCommentBytes)
		}
		out.WriteByte(';')
		out.WriteString(c)
		out.WriteByte('\n')
	}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if err := j.Validate(); err != nil {
			return fmt.Errorf("swf: write: %w", err)
		}
		if _, err := out.Write(AppendJob(out.AvailableBuffer(), j)); err != nil {
			return fmt.Errorf("swf: write: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("swf: write: %w", err)
	}
	return nil
}

// AppendJob appends a job's line with a newline. It does not check the job.
func AppendJob(line []byte, j *Job) []byte {
	v := j.values()
	for i, n := range v {
		if i > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendInt(line, n, 10)
	}
	return append(line, '\n')
}

// Validate returns an error about the first field with an invalid value: above its limit,
// negative other than [Unknown], or Unknown in the job number or the submit time.
func (j *Job) Validate() error {
	v := j.values()
	for i, n := range v {
		col := &columns[i]
		if n == Unknown && !col.required || n >= 0 && uint64(n) <= col.max {
			continue
		}
		return fmt.Errorf("job %d: field %d (%s) %d: out of range; accepted: %s", j.ID, i+1, col.name, n,
			col.accepted())
	}
	return nil
}

package swf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// parser turns blocks of lines into jobs.
type parser struct {
	header       Header
	commentBytes int
	jobs         []Job
	latest       int64 // submit time so far
	reordered    int
	normalized   int
	line         int // of the text, from 1
	maxJobs      int
}

func (p *parser) trace() *Trace {
	if p.reordered > 0 {
		sortBySubmit(p.jobs)
	}
	return &Trace{Header: p.header, Jobs: p.jobs, Reordered: p.reordered, Normalized: p.normalized}
}

// block parses whole lines. The text has slack bytes of capacity behind it.
func (p *parser) block(text []byte) error {
	b := text[:len(text)+slack]
	for i := 0; i < len(text); {
		p.line++
		start := i
		i = skipBlanks(b, i)
		var err error
		switch b[i] {
		case '\n':
		case ';':
			i, err = p.comment(b, i)
		default:
			i, err = p.job(b, i)
		}
		if err != nil {
			return err
		}
		if i-start > MaxLineBytes {
			return p.tooLong()
		}
		i++ // the newline
	}
	return nil
}

func (p *parser) tooLong() error {
	return &ParseError{Line: p.line, Reason: fmt.Sprintf("line is longer than %d bytes", MaxLineBytes)}
}

// comment stores the comment at b[i] and returns the position of its newline.
func (p *parser) comment(b []byte, i int) (int, error) {
	end := i + bytes.IndexByte(b[i:], '\n')
	p.commentBytes += end - i
	if p.commentBytes > MaxCommentBytes {
		return 0, &ParseError{
			Line:   p.line,
			Reason: fmt.Sprintf("comments take more than %d bytes together", MaxCommentBytes),
		}
	}
	text := bytes.TrimRight(b[i+1:end], blanks)
	p.header.Comments = append(p.header.Comments, string(text))
	return end, nil
}

// job parses the line with its first field at b[i] and returns where its
// newline is.
//
// Nearly all fields of real logs are -1 or have up to eight digits. Those are
// taken here, eight bytes at a time and without a branch that depends on a
// digit; number sees to the rest. What costs is that a field's start is known
// only when the one before it has been measured; for -1 and a single digit,
// which keep to their columns, the branch predictor knows it earlier.
func (p *parser) job(b []byte, i int) (int, error) {
	var v values
	for f := range v {
		for b[i] == ' ' {
			i++
		}
		word := binary.LittleEndian.Uint64(b[i : i+8])
		optional := f >= int(FieldSubmit) // number complains of those that are not
		if optional && word&0xffffff == '-'|'1'<<8|' '<<16 {
			v[f] = Unknown
			i += len("-1 ")
			continue
		}
		if digit := word&0xff - '0'; digit < 10 && word>>8&0xff == ' ' {
			v[f] = int64(digit)
			i += len("0 ")
			continue
		}
		n, size := shortNumber(word)
		if optional && word&0xffff == '-'|'1'<<8 {
			n, size = Unknown, len("-1")
		}
		fits := size > 0 && Field(f+1) != FieldStatus // eight digits are within all other limits
		if end := b[i+size]; fits && (end == ' ' || end == '\n') {
			v[f] = n
			i += size
			continue
		}
		var err error
		if v[f], i, err = p.number(b, i, Field(f+1)); err != nil {
			return 0, err
		}
	}
	i = skipBlanks(b, i)
	if b[i] != '\n' {
		return 0, &ParseError{
			Line:   p.line,
			Value:  clip(token(b, i)),
			Reason: fmt.Sprintf("more than %d fields", NumFields),
		}
	}
	return i, p.add(&v)
}

// shortNumber takes eight bytes of text, the first in the low bits, and returns
// the value of the digits they start with, and how many those are.
func shortNumber(word uint64) (n int64, size int) {
	const each = 0x0101010101010101 // times a byte: that byte in all eight
	d := word ^ '0'*each            // a digit is now 0 to 9
	// The high bit of the lowest byte above 9, and of none below it, gets set;
	// carries only disturb what comes behind. With no such byte size is 8.
	size = bits.TrailingZeros64((d+(0x80-10)*each|d)&(0x80*each)) / 8
	// Push out what follows, so that zeros lead; then join neighbours to pairs,
	// fours, and all eight.
	d <<= (64 - 8*size) & 63
	d = (d*10 + d>>8) & 0x00ff00ff00ff00ff
	d = (d*100 + d>>16) & 0x0000ffff0000ffff
	d = (d*10000 + d>>32) & 0xffffffff
	return int64(d), size
}

// add appends a job.
func (p *parser) add(v *values) error {
	switch {
	case p.jobs == nil:
		p.jobs = make([]Job, 0, p.header.jobsHint())
	case len(p.jobs) == p.maxJobs:
		return &ParseError{Line: p.line, Reason: fmt.Sprintf("more than %d jobs", p.maxJobs)}
	}
	if submit := v[FieldSubmit-1]; submit >= p.latest {
		p.latest = submit
	} else {
		p.reordered++
	}
	p.jobs = append(p.jobs, v.job())
	return nil
}

// wrong returns an error about a field of the current line.
func (p *parser) wrong(f Field, value []byte, reason string) error {
	return &ParseError{
		Line:   p.line,
		Field:  f,
		Value:  clip(value),
		Reason: reason + "; accepted: " + columns[f-1].accepted(),
	}
}

// skipBlanks also stops at a newline.
func skipBlanks(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' {
		i++
	}
	return i
}

// token returns the bytes from b[i] to the next blank or newline.
func token(b []byte, i int) []byte {
	start := i
	for b[i] != '\n' && b[i] != ' ' && b[i] != '\t' && b[i] != '\r' {
		i++
	}
	return b[start:i]
}

// Read reads a whole workload, plain or gzipped (it checks the first bytes). It does not use r
// after it returns, and does not close it. An error is a [*ParseError], or wraps an error of r
// or gzip. It reports the first error in the input.
func Read(r io.Reader) (*Trace, error) {
	return read(r, "", MaxJobs)
}

// ReadFile is [Read] for a file. Errors name its path.
func ReadFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("swf: %w", err)
	}
	defer f.Close()
	return read(f, path, MaxJobs)
}

func read(r io.Reader, path string, maxJobs int) (*Trace, error) {
	s := split(r)
	defer s.close()
	p := parser{maxJobs: maxJobs}
	for {
		b := <-s.full
		err := p.block(b.text)
		if err == nil && errors.Is(b.err, errLineTooLong) {
			p.line++
			err = p.tooLong()
		}
		var wrong *ParseError
		switch {
		case errors.As(err, &wrong):
			wrong.Path = path
			return nil, wrong
		case errors.Is(b.err, io.EOF):
			return p.trace(), nil
		case b.err != nil && path != "":
			return nil, fmt.Errorf("swf: read %s: %w", path, b.err)
		case b.err != nil:
			return nil, fmt.Errorf("swf: read: %w", b.err)
		}
		s.free <- b.text[:cap(b.text)]
	}
}

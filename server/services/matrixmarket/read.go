package matrixmarket

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits bounds what Read accepts. A zero field means the default.
type Limits struct {
	Rows    int // default DefaultRows
	Cols    int // default DefaultCols
	Entries int // listed entries or values, default DefaultEntries
}

// The default limits: an entry takes 24 bytes, so a coordinate matrix stays
// under 400 MB.
const (
	DefaultRows    = 1 << 20
	DefaultCols    = 1 << 20
	DefaultEntries = 1 << 24
)

// MaxLine is the longest accepted line in bytes. The format's own limit is
// 1024; some writers exceed it in comments.
const MaxLine = 8192

// startCapacity bounds the allocation based on the header alone.
const startCapacity = 4096

// ParseError is an error in the text of a file.
type ParseError struct {
	Line  int    // counted from 1
	Field string // the part of the line: banner, format, rows, row, value...
	Msg   string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Field, e.Msg)
}

// Read reads one matrix. Errors about the text are *ParseError; errors of r
// are wrapped.
func Read(r io.Reader, limits Limits) (*Matrix, error) {
	p := &parser{lines: bufio.NewScanner(r), limits: limits.withDefaults()}
	p.lines.Buffer(make([]byte, 0, 4096), MaxLine)

	if err := p.header(); err != nil {
		return nil, err
	}
	if err := p.size(); err != nil {
		return nil, err
	}
	if err := p.body(); err != nil {
		return nil, err
	}
	return &p.m, nil
}

func (l Limits) withDefaults() Limits {
	if l.Rows == 0 {
		l.Rows = DefaultRows
	}
	if l.Cols == 0 {
		l.Cols = DefaultCols
	}
	if l.Entries == 0 {
		l.Entries = DefaultEntries
	}
	return l
}

// parser reads line by line into m.
type parser struct {
	lines  *bufio.Scanner
	limits Limits
	line   int
	listed int // entries or values according to the size line
	m      Matrix
}

func (p *parser) fail(field, format string, args ...any) error {
	return &ParseError{Line: p.line, Field: field, Msg: fmt.Sprintf(format, args...)}
}

// next returns the words of the next non-blank line; nil, nil at the end of the text.
func (p *parser) next(comments bool) ([]string, error) {
	for p.lines.Scan() {
		p.line++
		text := strings.TrimSpace(p.lines.Text())
		if text == "" || comments && text[0] == '%' {
			continue
		}
		return strings.Fields(text), nil
	}
	switch err := p.lines.Err(); {
	case err == nil:
		return nil, nil
	case errors.Is(err, bufio.ErrTooLong):
		p.line++
		return nil, p.fail("line", "longer than %d bytes", MaxLine)
	default:
		return nil, fmt.Errorf("read matrix after line %d: %w", p.line, err)
	}
}

// header reads the first line. Its words are case-insensitive.
func (p *parser) header() error {
	words, err := p.next(false)
	if err != nil {
		return err
	}
	if p.line == 0 || words == nil {
		p.line = 1
		return p.fail("banner", "the file is empty")
	}
	if p.line != 1 || !strings.EqualFold(words[0], "%%MatrixMarket") {
		return p.fail("banner", "the first line starts with %%%%MatrixMarket")
	}
	if len(words) != 5 {
		return p.fail("banner", "%d words, needed are 5: %%%%MatrixMarket matrix format field symmetry", len(words))
	}
	if !strings.EqualFold(words[1], "matrix") {
		return p.fail("object", "%q, accepted is matrix", clip(words[1]))
	}
	p.m.Format = Format(strings.ToLower(clip(words[2])))
	p.m.Field = Field(strings.ToLower(clip(words[3])))
	p.m.Symmetry = Symmetry(strings.ToLower(clip(words[4])))
	if err := p.m.validateHeader(); err != nil {
		return p.fail("banner", "%v", err)
	}
	return nil
}

// size reads the first line after the comments and checks it against the
// limits.
func (p *parser) size() error {
	words, err := p.next(true)
	if err != nil {
		return err
	}
	if words == nil {
		p.line++
		return p.fail("size", "missing, the file ends before it")
	}
	names := []string{"rows", "columns", "entries"}
	limits := []int{p.limits.Rows, p.limits.Cols, p.limits.Entries}
	if p.m.Format == Array {
		names = names[:2]
	}
	if len(words) != len(names) {
		return p.fail("size", "%d numbers, needed are %d: %s", len(words), len(names), strings.Join(names, " "))
	}
	sizes := make([]int, 3)
	for i, name := range names {
		low := 1
		if name == "entries" {
			low = 0
		}
		if sizes[i], err = p.count(name, words[i], low, limits[i]); err != nil {
			return err
		}
	}
	p.m.Rows, p.m.Cols, p.listed = sizes[0], sizes[1], sizes[2]
	if p.m.Symmetry != General && p.m.Rows != p.m.Cols {
		return p.fail("columns", "%d, a %s matrix with %d rows has as many columns", p.m.Cols, p.m.Symmetry, p.m.Rows)
	}
	if p.m.Format == Array {
		if p.listed = p.m.stored(); p.listed > p.limits.Entries {
			return p.fail("size", "%d x %d values, accepted are at most %d", p.m.Rows, p.m.Cols, p.limits.Entries)
		}
	}
	return nil
}

// body reads the listed number of entries or values and refuses text after them.
func (p *parser) body() error {
	if p.m.Format == Array {
		p.m.Values = make([]float64, 0, min(p.listed, startCapacity))
	} else {
		p.m.Entries = make([]Entry, 0, min(p.listed, startCapacity))
	}
	for i := range p.listed {
		words, err := p.next(false)
		if err != nil {
			return err
		}
		if words == nil {
			p.line++
			return p.fail("entries", "the file ends after %d of %d", i, p.listed)
		}
		if p.m.Format == Array {
			err = p.value(words)
		} else {
			err = p.entry(words)
		}
		if err != nil {
			return err
		}
	}
	words, err := p.next(false)
	if err != nil {
		return err
	}
	if words != nil {
		return p.fail("entries", "more than the %d announced", p.listed)
	}
	return nil
}

// value reads a line of an array.
func (p *parser) value(words []string) error {
	if len(words) != 1 {
		return p.fail("value", "%d words, an array has one value a line", len(words))
	}
	v, err := p.number(words[0])
	p.m.Values = append(p.m.Values, v)
	return err
}

// entry reads a line of a coordinate matrix.
func (p *parser) entry(words []string) error {
	needed := 3
	if p.m.Field == Pattern {
		needed = 2
	}
	if len(words) != needed {
		return p.fail("entry", "%d words, a %s entry has %d", len(words), p.m.Field, needed)
	}
	row, err := p.count("row", words[0], 1, p.m.Rows)
	if err != nil {
		return err
	}
	col, err := p.count("column", words[1], 1, p.m.Cols)
	if err != nil {
		return err
	}
	if err := p.m.checkTriangle(row, col); err != nil {
		return p.fail("row", "(%d, %d) is %v", row, col, err)
	}
	v := 1.0
	if p.m.Field != Pattern {
		if v, err = p.number(words[2]); err != nil {
			return err
		}
	}
	p.m.Entries = append(p.m.Entries, Entry{Row: row - 1, Col: col - 1, Value: v})
	return nil
}

// count reads an integer from low to high.
func (p *parser) count(field, word string, low, high int) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < low || n > high {
		return 0, p.fail(field, "%q, accepted are whole numbers from %d to %d", clip(word), low, high)
	}
	return n, nil
}

// number reads a value of the matrix's field.
func (p *parser) number(word string) (float64, error) {
	if p.m.Field == Integer {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n > MaxInteger || n < -MaxInteger {
			return 0, p.fail("value", "%q, accepted are integers from %d to %d", clip(word), -MaxInteger, MaxInteger)
		}
		return float64(n), nil
	}
	v, err := strconv.ParseFloat(word, 64)
	// ParseFloat also accepts hexadecimal numbers, inf and nan, which the format does not
	// have.
	if err != nil || strings.Trim(word, "+-.0123456789eE") != "" {
		return 0, p.fail("value", "%q, accepted are finite decimal numbers", clip(word))
	}
	return v, nil
}

// clip shortens a word for an error message.
func clip(word string) string {
	const longest = 40
	if len(word) <= longest {
		return word
	}
	return word[:longest] + "..."
}

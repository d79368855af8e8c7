package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/npy"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Text is the Arg Text for a service with a known description: submitting does not ask
// for it again.
func (s *Service) Text(name, text string) Arg {
	about := s.Argument(name)
	if about != nil && about.Type.Written() && !about.Type.Sent() {
		return OutputTo(name, text)
	}
	return value(name, parse(text, about))
}

// Misfit returns why a text cannot be sent for an argument, as far as this machine can
// tell: a file that does not exist, an invalid matrix. It is nil if there is no such
// reason.
func (s *Service) Misfit(name, text string) error {
	about := s.Argument(name)
	if about == nil || !about.Type.Sent() {
		return nil
	}
	switch v := parse(text, about).(type) {
	case misfit:
		return v.err
	case *file:
		if v.block == nil {
			if _, err := os.Stat(text); err != nil {
				return fmt.Errorf("argument %s: %w", name, err)
			}
		}
	}
	return nil
}

// npySuffix is the suffix of NumPy's files.
const npySuffix = ".npy"

// isNPY reports whether a path has the suffix of NumPy's files.
func isNPY(path string) bool {
	return len(path) > len(npySuffix) && strings.EqualFold(path[len(path)-len(npySuffix):], npySuffix)
}

// OpenNPY returns the array of a .npy file: little-endian, in C order, with one or two
// dimensions. The elements stay in the file until they are sent.
func OpenNPY(path string) (Block, error) {
	f, err := os.Open(path)
	if err != nil {
		return Block{}, err
	}
	defer f.Close()
	h, err := npy.Read(f)
	if e, ok := errors.AsType[*npy.FormatError](err); ok {
		return Block{}, &problem.Problem{
			Reason: problem.BadValue, Message: fmt.Sprintf("%s: %s", path, e.Why), Hint: e.Hint,
		}
	}
	if err != nil {
		return Block{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return Block{}, err
	}
	size, _ := h.Bytes()
	if have := info.Size() - h.Size; info.Mode().IsRegular() && have != size {
		return Block{}, &problem.Problem{
			Reason: problem.BadValue, Hint: "it may be cut off, or not completely written yet",
			Message: fmt.Sprintf("%s: %d bytes follow its header, %s has %d", path, have,
				arrayText(ElementType(h.Element), h.Dimensions), size),
		}
	}
	return Block{Element: ElementType(h.Element), Dimensions: h.Dimensions, Open: func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return &section{SectionReader: io.NewSectionReader(f, h.Size, size), Closer: f}, nil
	}}, nil
}

// section is a part of a file.
type section struct {
	*io.SectionReader
	io.Closer
}

// typedForms are the accepted texts for a vector or a matrix.
var typedForms = map[int]string{1: "PATH.npy, or numbers as 1,2,3", 2: "PATH.npy, or rows of numbers as 1,2;3,4"}

// readArray reads typed text as a vector or a matrix: the path of a .npy file, or
// numbers.
func readArray(text string, a *Argument) (*file, error) {
	var (
		b   Block
		err error
	)
	if isNPY(text) {
		b, err = OpenNPY(text)
	} else {
		b, err = readNumbers(text, a)
	}
	if err == nil {
		err = b.fits(a)
	} else {
		err = ofArgument(err, a.Name)
	}
	if err != nil {
		return nil, err
	}
	return b.file(), nil
}

// readNumbers reads 1,2;3,4.
func readNumbers(text string, a *Argument) (Block, error) {
	switch a.Element {
	case Float64:
		return readRows(text, a, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case Float32:
		return readRows(text, a, func(s string) (float32, error) {
			v, err := strconv.ParseFloat(s, 32)
			return float32(v), err
		})
	case Int64:
		return readRows(text, a, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case Int32:
		return readRows(text, a, func(s string) (int32, error) {
			v, err := strconv.ParseInt(s, 10, 32)
			return int32(v), err
		})
	case Uint8:
		return readRows(text, a, func(s string) (uint8, error) {
			v, err := strconv.ParseUint(s, 10, 8)
			return uint8(v), err
		})
	case Complex128:
		return readRows(text, a, func(s string) (complex128, error) { return strconv.ParseComplex(s, 128) })
	}
	return Block{}, &problem.Problem{
		Reason: problem.WrongType, Message: fmt.Sprintf("this client does not know elements of type %q", a.Element),
	}
}

func readRows[T Element](text string, a *Argument, read func(string) (T, error)) (Block, error) {
	forms := typedForms[a.Type.dimensions()]
	var rows [][]T
	for line := range strings.SplitSeq(text, ";") {
		var row []T
		for part := range strings.SplitSeq(line, ",") {
			v, err := read(strings.TrimSpace(part))
			if err != nil {
				return Block{}, &problem.Problem{
					Reason: problem.BadValue, Accepted: forms, Message: fmt.Sprintf("%q is not a %s", brief(part),
						a.Element),
				}
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	if a.Type.dimensions() == 1 && len(rows) == 1 {
		return vectorBlock(rows[0]), nil
	}
	m, err := DenseOf(rows)
	if err != nil {
		return Block{}, err
	}
	return m.block()
}

// brief shortens a long text.
func brief(text string) string {
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}

package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	magic = "\x93NUMPY"
	// largest bounds the text of a header, bytes. NumPy itself accepts 10,000.
	largest = 1 << 16
	// align is the alignment of the elements, bytes.
	align = 64
)

// Header describes the array in a file.
type Header struct {
	Element    string  // "float64", "float32", "int64", "int32", "uint8" or "complex128"
	Dimensions []int64 // one or two, each at least 0
	Size       int64   // size of the header, bytes: the offset of the elements
}

// FormatError is a file that cannot be read.
type FormatError struct {
	Why  string
	Hint string // how to make a valid file; may be empty
}

// Error returns the reason.
func (e *FormatError) Error() string { return e.Why }

// elements maps NumPy's types of elements to ours.
var elements = map[string]string{
	"<f8": "float64", "<f4": "float32", "<i8": "int64", "<i4": "int32", "|u1": "uint8", "<u1": "uint8",
	"<c16": "complex128",
}

// sizes are the sizes of elements, bytes.
var sizes = map[string]int64{"float64": 8, "float32": 4, "int64": 8, "int32": 4, "uint8": 1, "complex128": 16}

// Bytes returns the size of all elements, false if it overflows.
func (h Header) Bytes() (int64, bool) {
	n := sizes[h.Element]
	for _, d := range h.Dimensions {
		if d < 0 || d > 0 && n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// Read reads the header at the beginning of a file. The error is a *FormatError, or a
// failure of r.
func Read(r io.Reader) (Header, error) {
	var begin [12]byte
	if err := fill(r, begin[:10]); err != nil {
		return Header{}, err
	}
	if string(begin[:6]) != magic {
		return Header{}, &FormatError{Why: "it does not begin as a .npy file does", Hint: "numpy.save writes one"}
	}
	size, text := int64(10), int64(binary.LittleEndian.Uint16(begin[8:]))
	switch begin[6] {
	case 1:
	case 2, 3: // two more bytes of size
		if err := fill(r, begin[10:]); err != nil {
			return Header{}, err
		}
		size, text = 12, int64(binary.LittleEndian.Uint32(begin[8:]))
	default:
		return Header{}, &FormatError{Why: fmt.Sprintf("its format has version %d, accepted: 1 to 3", begin[6])}
	}
	if text > largest {
		return Header{}, &FormatError{Why: fmt.Sprintf("its header has %d bytes, accepted: at most %d", text, largest)}
	}
	header := make([]byte, text)
	if err := fill(r, header); err != nil {
		return Header{}, err
	}
	h, err := parse(string(header))
	h.Size = size + text
	return h, err
}

// fill reads all of b.
func fill(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FormatError{Why: "it ends within its header"}
	}
	return err
}

// parse reads the text of a header.
func parse(text string) (Header, error) {
	d, err := parseDict(text)
	if err != nil {
		return Header{}, err
	}
	h := Header{Element: elements[d.descr], Dimensions: d.shape}
	if h.Element == "" {
		e := &FormatError{
			Why: fmt.Sprintf("its elements are %q, accepted: float64, float32, int64, int32, uint8 or complex128",
				d.descr),
			Hint: `array.astype("<f8") makes float64 of them`,
		}
		if swapped := "<" + strings.TrimPrefix(d.descr, ">"); elements[swapped] != "" {
			e.Why = fmt.Sprintf("its elements (%q) are big-endian, accepted: little-endian", d.descr)
			e.Hint = fmt.Sprintf("array.astype(%q) turns them round", swapped)
		}
		return Header{}, e
	}
	if n := len(h.Dimensions); n != 1 && n != 2 {
		return Header{}, &FormatError{
			Why: fmt.Sprintf("it has %d dimensions, accepted: 1 or 2", n), Hint: "array.reshape gives it others",
		}
	}
	// With a dimension of at most 1 both orders are the same.
	if d.fortran && len(h.Dimensions) == 2 && min(h.Dimensions[0], h.Dimensions[1]) > 1 {
		return Header{}, &FormatError{
			Why:  "it is in Fortran order, columns one after the other; accepted: rows",
			Hint: "numpy.ascontiguousarray(array) puts it in order",
		}
	}
	if _, ok := h.Bytes(); !ok {
		return Header{}, &FormatError{Why: fmt.Sprintf("its shape is %d: no file has so many elements", h.Dimensions)}
	}
	return h, nil
}

// Append appends the header of an array, padded to a multiple of 64 bytes.
func Append(b []byte, element string, dimensions []int64) ([]byte, error) {
	descr := ""
	for word, is := range elements {
		if is == element && word != "<u1" {
			descr = word
		}
	}
	if descr == "" {
		return nil, fmt.Errorf("a .npy file of %q", element)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr)
	for i, d := range dimensions {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(strconv.FormatInt(d, 10))
	}
	if len(dimensions) == 1 {
		text.WriteByte(',')
	}
	text.WriteString("), }")
	for (10+text.Len()+1)%align != 0 {
		text.WriteByte(' ')
	}
	text.WriteByte('\n')
	b = append(b, magic...)
	b = append(b, 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(text.Len()))
	return append(b, text.Bytes()...), nil
}

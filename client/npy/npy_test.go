package npy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client/npy"
)

// file returns the beginning of a file of a version with this text in its header.
func file(version byte, text string) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(b, text...)
}

const good = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"

func TestHeadersOfAllVersionsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		file    []byte
		element string
		dims    []int64
	}{
		"version 1":               {file(1, good+"   \n"), "float64", []int64{3, 4}},
		"version 2":               {file(2, good+"\n"), "float64", []int64{3, 4}},
		"version 3":               {file(3, good+"\n"), "float64", []int64{3, 4}},
		"another order, no comma": {file(1, `{"shape":(2,),"descr":"<i4","fortran_order":False}`), "int32", []int64{2}},
		"of Python 2": {
			file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3L, 4L), }"), "uint8", []int64{3, 4},
		},
		"complex": {file(1, strings.Replace(good, "<f8", "<c16", 1)), "complex128", []int64{3, 4}},
		"empty":   {file(1, strings.Replace(good, "(3, 4)", "(0,)", 1)), "float64", []int64{0}},
		"no order in a vector": {
			file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (5,), }"), "float32", []int64{5},
		},
		"nor in one column": {
			file(1, "{'descr': '<i8', 'fortran_order': True, 'shape': (5, 1), }"), "int64", []int64{5, 1},
		},
	} {
		h, err := npy.Read(io.MultiReader(bytes.NewReader(c.file), strings.NewReader("elements")))
		if err != nil || h.Element != c.element || !slices.Equal(h.Dimensions, c.dims) || h.Size != int64(len(c.file)) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

func TestUnsupportedFilesAreRefusedWithAReason(t *testing.T) {
	with := func(old, instead string) []byte { return file(1, strings.Replace(good, old, instead, 1)) }
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"nothing":            {nil, "ends within its header"},
		"another file":       {[]byte("PK\x03\x04 of some archive"), "does not begin"},
		"version 4":          {file(4, good), "version 4"},
		"cut":                {file(1, good)[:30], "ends within its header"},
		"cut size":           {file(2, good)[:11], "ends within its header"},
		"a header too long":  {file(2, strings.Repeat(" ", 1<<16+1)), "accepted: at most 65536"},
		"big-endian":         {with("<f8", ">f8"), "big-endian"},
		"bool":               {with("<f8", "|b1"), `"|b1", accepted: float64`},
		"objects":            {with("<f8", "|O"), "accepted: float64"},
		"records":            {with("'<f8'", "[('a', '<f8')]"), "records"},
		"Fortran order":      {with("False", "True"), "Fortran order"},
		"no dimension":       {with("(3, 4)", "()"), "0 dimensions"},
		"three dimensions":   {with("(3, 4)", "(3, 4, 5)"), "3 dimensions"},
		"too many elements":  {with("(3, 4)", "(4611686018427387904, 4)"), "no file has so many"},
		"a number too large": {with("(3, 4)", "(99999999999999999999, 4)"), "malformed"},
		"below zero":         {with("(3, 4)", "(-3, 4)"), "malformed"},
		"no tuple":           {with("(3, 4)", "(3)"), "malformed"},
		"a key twice":        {with("'shape'", "'descr'"), "malformed"},
		"an unknown key":     {with("'shape'", "'form'"), "malformed"},
		"a key missing":      {with(", 'shape': (3, 4)", ""), "malformed"},
		"something behind":   {file(1, good+" import os"), "malformed"},
		"no dictionary":      {file(1, "[]"), "malformed"},
		"no comma":           {with("False,", "False"), "malformed"},
		"an open string":     {file(1, "{'descr"), "malformed"},
		"an escape":          {with("<f8", `<\f8`), "malformed"},
	} {
		_, err := npy.Read(bytes.NewReader(c.file))
		if e, ok := errors.AsType[*npy.FormatError](err); !ok || !strings.Contains(e.Why, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := npy.Read(failing{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// numpy is what numpy.save (1.24) writes in front of the elements.
const numpy = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }" +
	"                                                          \n"

func TestHeadersAreWrittenLikeNumPy(t *testing.T) {
	b, err := npy.Append(nil, "float64", []int64{3, 4})
	if err != nil || string(b) != numpy {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := npy.Append(nil, "float16", []int64{1}); err == nil {
		t.Error("float16 is written")
	}
}

// The files of testdata were written by NumPy 1.24.
func TestFilesOfNumPyAreRead(t *testing.T) {
	for name, want := range map[string]string{
		"product": "float64 [2 2]", "vector": "uint8 [3]", "complex": "complex128 [1 1]", "int32": "int32 [0 7]",
		"version2": "float64 [1]",
		"version3": "float64 [1]", "fortran": "Fortran order", "big-endian": "big-endian", "bool": "|b1",
		"records": "records", "scalar": "0 dimensions",
	} {
		content, err := os.ReadFile(filepath.Join("testdata", name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		h, err := npy.Read(bytes.NewReader(content))
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			continue
		}
		if got := fmt.Sprint(h.Element, " ", h.Dimensions); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if size, ok := h.Bytes(); !ok || h.Size+size != int64(len(content)) {
			t.Errorf("%s: elements of %d bytes behind %d, in %d", name, size, h.Size, len(content))
		}
		again, err := npy.Append(nil, h.Element, h.Dimensions)
		if err != nil || content[6] == 1 && !bytes.HasPrefix(content, again) {
			t.Errorf("%s: written as %q, %v", name, again, err)
		}
	}
}

// FuzzRead: what is read can be written, and is read as the same again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(numpy))
	f.Add(file(2, good))
	f.Add(file(1, "{'shape': (7,), 'descr': '|u1', 'fortran_order': True}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := npy.Read(bytes.NewReader(data))
		if err != nil {
			if _, ok := errors.AsType[*npy.FormatError](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if h.Size > int64(len(data)) {
			t.Fatalf("a header of %d bytes in %d", h.Size, len(data))
		}
		b, err := npy.Append(nil, h.Element, h.Dimensions)
		if err != nil || len(b)%64 != 0 {
			t.Fatalf("%+v: %d bytes, %v", h, len(b), err)
		}
		again, err := npy.Read(bytes.NewReader(b))
		if err != nil || again.Element != h.Element || !slices.Equal(again.Dimensions, h.Dimensions) ||
			again.Size != int64(len(b)) {
			t.Fatalf("%+v became %+v, %v", h, again, err)
		}
	})
}

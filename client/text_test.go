package client

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func argumentOf(kind ArgumentType, element ElementType) *Argument {
	return &Argument{Name: "a", Type: kind, Element: element}
}

func TestTypedNumbersBecomeArrays(t *testing.T) {
	for text, c := range map[string]struct {
		about *Argument
		want  Block
	}{
		"1,2.5,-3e2":  {argumentOf(TypeVector, Float64), vectorBlock([]float64{1, 2.5, -300})},
		"7":           {argumentOf(TypeVectorInout, Int32), vectorBlock([]int32{7})},
		" 1 , 2 ":     {argumentOf(TypeVector, Uint8), vectorBlock([]uint8{1, 2})},
		"1+2i,-1i":    {argumentOf(TypeVector, Complex128), vectorBlock([]complex128{1 + 2i, -1i})},
		"0.1":         {argumentOf(TypeVector, Float32), vectorBlock([]float32{0.1})},
		"1,2;3,4;5,6": {argumentOf(TypeMatrix, Int64), mustBlock([][]int64{{1, 2}, {3, 4}, {5, 6}})},
		"1,2":         {argumentOf(TypeMatrix, Float64), mustBlock([][]float64{{1, 2}})},
		"inf, nan; 1, 2": {
			argumentOf(TypeMatrixInout, Float64), mustBlock([][]float64{{math.Inf(1), math.NaN()}, {1, 2}}),
		},
	} {
		f, err := readArray(text, c.about)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, want := contentOfBlock(t, *f.block), contentOfBlock(t, c.want); !bytes.Equal(got, want) ||
			f.block.Element != c.want.Element || !slices.Equal(f.block.Dimensions, c.want.Dimensions) {
			t.Errorf("%q: %s of %x, want %s of %x", text, f.block, got, &c.want, want)
		}
	}
	for text, c := range map[string]struct {
		about  *Argument
		reason problem.Reason
	}{
		"":                   {argumentOf(TypeVector, Float64), problem.BadValue},
		"1,":                 {argumentOf(TypeVector, Float64), problem.BadValue},
		"1;":                 {argumentOf(TypeMatrix, Float64), problem.BadValue},
		"one":                {argumentOf(TypeVector, Float64), problem.BadValue},
		"1.5":                {argumentOf(TypeVector, Int64), problem.BadValue},
		"256":                {argumentOf(TypeVector, Uint8), problem.BadValue},
		"-1":                 {argumentOf(TypeVector, Uint8), problem.BadValue},
		"2147483648":         {argumentOf(TypeVector, Int32), problem.BadValue},
		"1e400":              {argumentOf(TypeVector, Float64), problem.BadValue},
		"1,2;3":              {argumentOf(TypeMatrix, Float64), problem.WrongDimensions},
		"1;2":                {argumentOf(TypeVector, Float64), problem.WrongType},
		"matrix.dat":         {argumentOf(TypeMatrix, Float64), problem.BadValue},
		"1":                  {argumentOf(TypeMatrix, "bfloat16"), problem.WrongType},
		"1,2 ":               {argumentOf(TypeMatrix, ""), problem.WrongType},
		"nothing/at/all.npy": {argumentOf(TypeMatrix, Float64), ""},
	} {
		_, err := readArray(text, c.about)
		switch {
		case c.reason == "" && !errors.Is(err, os.ErrNotExist):
			t.Errorf("%q: %v", text, err)
		case c.reason != "":
			if e := reasonError(t, text, err, c.reason); e.Field != "request.arguments.a" ||
				!strings.HasPrefix(e.Message, "argument a: ") {
				t.Errorf("%q: %q, field %q", text, e.Message, e.Field)
			}
		}
	}
}

// FuzzTypedArray: what is read has as many bytes as it says, and nothing else is.
func FuzzTypedArray(f *testing.F) {
	for _, text := range []string{"1,2;3,4", "1", "", ";", ",", "1e5,nan;inf,-0", "1+2i", "a.npy", "\x00,\xff"} {
		f.Add(text, uint8(0), true)
	}
	types := []ElementType{Float64, Float32, Int64, Int32, Uint8, Complex128}
	f.Fuzz(func(t *testing.T, text string, kind uint8, matrix bool) {
		if isNPY(text) {
			return
		}
		about := argumentOf(TypeVector, types[int(kind)%len(types)])
		if matrix {
			about.Type = TypeMatrix
		}
		read, err := readArray(text, about)
		if err != nil {
			if _, ok := errors.AsType[*problem.Problem](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := read.identify(t.Context()); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func TestNumPyFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.NPY")
	header := "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }" + strings.Repeat(" ",
		58) + "\n"
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	block := string(contentOfBlock(t, vectorBlock([]float64{3, 4})))
	write(header + block)
	f, err := readArray(path, argumentOf(TypeMatrix, Float64))
	if err != nil {
		t.Fatal(err)
	}
	if got := contentOfBlock(t, *f.block); string(got) != block || f.block.String() != "1 x 2 of float64" {
		t.Errorf("%s of %x", f.block, got)
	}
	if err := f.identify(t.Context()); err != nil || f.size != 16 {
		t.Errorf("%d bytes, %v", f.size, err)
	}
	_, err = readArray(path, argumentOf(TypeMatrix, Float32))
	wantReason(t, "another type", err, problem.WrongType)
	_, err = readArray(path, argumentOf(TypeVector, Float64))
	wantReason(t, "a matrix for a vector", err, problem.WrongType)
	for name, content := range map[string]string{
		"cut": header + block[:15], "too long": header + block + "x", "no header": block,
		"in Fortran order": strings.NewReplacer("False", "True ", "(1, 2)", "(2, 2)").Replace(header) + block + block,
	} {
		write(content)
		_, err = readArray(path, argumentOf(TypeMatrix, Float64))
		if e := reasonError(t, name, err, problem.BadValue); !strings.Contains(e.Message, "a.NPY: ") || e.Hint == "" {
			t.Errorf("%s: %q, hint %q", name, e.Message, e.Hint)
		}
	}
	// It changes after it was looked at.
	write(header + block)
	if f, err = readArray(path, argumentOf(TypeMatrix, Float64)); err != nil {
		t.Fatal(err)
	}
	write(header)
	wantReason(t, "cut meanwhile", f.identify(t.Context()), problem.WrongDimensions)
}

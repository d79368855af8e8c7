package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestElementsAreSentLittleEndian(t *testing.T) {
	for _, c := range []struct {
		block Block
		want  string
	}{
		{vectorBlock([]float64{1, -2}), "000000000000f03f00000000000000c0"},
		{vectorBlock([]float32{1}), "0000803f"},
		{vectorBlock([]int64{-2}), "feffffffffffffff"},
		{vectorBlock([]int32{258}), "02010000"},
		{vectorBlock([]uint8{1, 255}), "01ff"},
		{vectorBlock([]complex128{1 - 2i}), "000000000000f03f00000000000000c0"},
		{vectorBlock[float64](nil), ""},
	} {
		r, err := c.block.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); hex.EncodeToString(got) != c.want || err != nil {
			t.Errorf("%s: %x, %v", &c.block, got, err)
		}
	}
}

// However a block is read, sought and written in pieces, its elements are the same.
func TestElementsArriveInPiecesOfAnySize(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, piecewise(rapid.Float64())) })
	t.Run("int32", func(t *testing.T) { rapid.Check(t, piecewise(rapid.Int32())) })
	t.Run("uint8", func(t *testing.T) { rapid.Check(t, piecewise(rapid.Uint8())) })
	t.Run("complex128", func(t *testing.T) {
		rapid.Check(t, piecewise(rapid.Custom(func(t *rapid.T) complex128 {
			return complex(rapid.Float64().Draw(t, "re"), rapid.Float64().Draw(t, "im"))
		})))
	})
}

func piecewise[T Element](of *rapid.Generator[T]) func(*rapid.T) {
	return func(t *rapid.T) {
		data := rapid.SliceOf(of).Draw(t, "data")
		whole, err := io.ReadAll(&source[T]{data: data})
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.IntRange(0, len(whole)).Draw(t, "from")
		r := &source[T]{data: data}
		if err := skip(r, int64(from)); err != nil {
			t.Fatal(err)
		}
		var tail []byte
		for {
			piece := make([]byte, rapid.IntRange(1, 40).Draw(t, "piece"))
			n, err := r.Read(piece)
			tail = append(tail, piece[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		if !bytes.Equal(tail, whole[from:]) {
			t.Fatalf("from %d: %x, want %x", from, tail, whole[from:])
		}
		into := &gathered[T]{data: make([]T, len(data))}
		for rest := whole; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "written")
			if _, err := into.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if !slices.Equal(into.data, data) || into.n != len(data) {
			t.Fatalf("%v, want %v", into.data, data)
		}
		if _, err := into.Write([]byte{0}); !errors.Is(err, errMore) {
			t.Fatalf("one byte more: %v", err)
		}
	}
}

func TestABlockIsAnIOReader(t *testing.T) {
	data := []float64{1, 2, math.Inf(1), 4, 5, math.SmallestNonzeroFloat64}
	whole, _ := io.ReadAll(&source[float64]{data: data})
	if err := iotest.TestReader(&source[float64]{data: data}, whole); err != nil {
		t.Error(err)
	}
}

// A matrix of 64 MiB is identified and read without anything of its size beside it.
func TestABlockIsSentWithoutACopy(t *testing.T) {
	m := NewDense[float64](1024, 8192)
	b, err := m.block()
	if err != nil {
		t.Fatal(err)
	}
	f := b.file()
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if err := f.identify(t.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got := result.AllocedBytesPerOp(); got > 1<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
	empty := sha256.New()
	_, _ = io.Copy(empty, io.LimitReader(zeros{}, 64<<20))
	if want := hex.EncodeToString(empty.Sum(nil)); f.sha256 != want || f.size != 64<<20 {
		t.Errorf("%s, %d bytes", f.sha256, f.size)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestADenseMatrixStoresRows(t *testing.T) {
	m, err := DenseOf([][]int32{{1, 2, 3}, {4, 5, 6}})
	if err != nil || m.At(1, 0) != 4 || !slices.Equal(m.Row(0), []int32{1, 2, 3}) {
		t.Fatalf("%+v, %v", m, err)
	}
	m.Set(0, 2, 7)
	if !slices.Equal(m.Data, []int32{1, 2, 7, 4, 5, 6}) {
		t.Errorf("%v", m.Data)
	}
	if n := NewDense[float64](2, 0); len(n.Data) != 0 {
		t.Errorf("%+v", n)
	}
	_, err = DenseOf([][]float64{{1, 2}, {3}})
	wantReason(t, "ragged rows", err, problem.WrongDimensions)
}

// wantReason fails the test when an error is not an *problem.Problem of a reason.
func wantReason(t *testing.T, what string, err error, reason problem.Reason) {
	t.Helper()
	_ = reasonError(t, what, err, reason)
}

// reasonError is wantReason, and returns the error.
func reasonError(t *testing.T, what string, err error, reason problem.Reason) *problem.Problem {
	t.Helper()
	e, ok := errors.AsType[*problem.Problem](err)
	if !ok || e.Reason != reason {
		t.Errorf("%s: %v (%T), want %s", what, err, err, reason)
		return &problem.Problem{}
	}
	return e
}

func TestInvalidArraysAreRefusedLocally(t *testing.T) {
	w, c := newWorldless(t)
	for name, arg := range map[string]Arg{
		"too few elements":  Matrix("a", &Dense[float64]{Rows: 2, Cols: 2, Data: make([]float64, 3)}),
		"rows below zero":   Matrix("a", &Dense[float64]{Rows: -1, Cols: -1, Data: make([]float64, 1)}),
		"an overflow":       Matrix("a", &Dense[uint8]{Rows: 1 << 62, Cols: 4}),
		"three dimensions":  Array("a", Block{Element: Float64, Dimensions: []int64{1, 1, 1}}),
		"no dimension":      Array("a", Block{Element: Float64}),
		"below zero":        Array("a", Block{Element: Float64, Dimensions: []int64{-1}}),
		"too many elements": Array("a", Block{Element: Float64, Dimensions: []int64{1 << 60, 8}}),
		"content of no size": Array("a", Block{
			Element: Float64, Dimensions: []int64{2}, Open: vectorBlock([]float64{1}).Open,
		}),
	} {
		_, err := c.Submit(t.Context(), "svc", arg)
		if e := reasonError(t, name, err, problem.WrongDimensions); name != "content of no size" &&
			e.Field != "request.arguments.a" {
			t.Errorf("%s: field %q", name, e.Field)
		}
	}
	_, err := c.Submit(t.Context(), "svc", Matrix("a", (*Dense[float64])(nil)))
	wantReason(t, "nil", err, problem.WrongType)
	_, err = c.Submit(t.Context(), "svc", Array("a", Block{Element: "float16", Dimensions: []int64{1}}))
	wantReason(t, "an unknown type", err, problem.WrongType)
	if *w > 0 {
		t.Errorf("%d connections were made", *w)
	}
}

// newWorldless returns a client without a grid, and how many calls it has tried.
func newWorldless(t *testing.T) (*int, *Client) {
	t.Helper()
	tried := new(int)
	c, err := New(Config{Agents: []string{"http://none"}, CallTimeout: Default().CallTimeout},
		WithTransport(unreachable{tried}))
	if err != nil {
		t.Fatal(err)
	}
	return tried, c
}

// unreachable counts the calls of a client.
type unreachable struct{ tried *int }

func (r unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	*r.tried++
	return nil, errors.New("unreachable")
}

func mustBlock[T Element](rows [][]T) Block {
	m, err := DenseOf(rows)
	if err != nil {
		panic(err)
	}
	b, err := m.block()
	if err != nil {
		panic(err)
	}
	return b
}

func contentOfBlock(t *testing.T, b Block) []byte {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestGoValuesBecomeBlocks(t *testing.T) {
	type measured []float64
	m := &Dense[float64]{Rows: 1, Cols: 1, Data: []float64{1}}
	v := []float64{1}
	var none *[]float64
	for _, c := range []struct {
		kind ArgumentType
		v    any
		want string // "" is no value at all
	}{
		{TypeVector, v, "1 of float64"},
		{TypeVector, measured(v), "1 of float64"},
		{TypeVector, vectorBlock(v), "1 of float64"},
		{TypeVector, &v, ""},
		{TypeVector, []int{1}, ""},
		{TypeVector, []string{"1"}, ""},
		{TypeVector, 1.5, ""},
		{TypeVector, []float32{1}, string(problem.WrongType)},
		{TypeVector, m, string(problem.WrongType)},
		{TypeVectorInout, &v, "1 of float64"},
		{TypeVectorInout, v, ""},
		{TypeVectorInout, none, ""},
		{TypeMatrix, m, "1 x 1 of float64"},
		{TypeMatrix, *m, ""},
		{TypeMatrix, v, string(problem.WrongType)},
		{TypeMatrix, (*Dense[float64])(nil), string(problem.WrongType)},
		{TypeMatrix, &Dense[float64]{Rows: 2, Cols: 2}, string(problem.WrongDimensions)},
		{TypeMatrix, &Dense[int64]{}, string(problem.WrongType)},
		{TypeMatrixInout, m, "1 x 1 of float64"},
		{TypeMatrix, "1", "1 x 1 of float64"},
		{TypeMatrix, "x", string(problem.BadValue)},
		{TypeMatrixInout, "1,2", ""},
		{TypeVectorInout, "data:01", ""},
	} {
		arg, _, ok := bindOne(argumentOf(c.kind, Float64), c.v)
		if !ok {
			if c.want != "" {
				t.Errorf("%s from a %T: refused, want %s", c.kind, c.v, c.want)
			}
			continue
		}
		var r request
		arg(&r)
		got := ""
		switch v := r.args[0].value.(type) {
		case *file:
			got = v.block.String()
		case misfit:
			got = string(problem.ReasonOf(v.err))
		}
		if c.want == "" || got != c.want {
			t.Errorf("%s from a %T: %s, want %q", c.kind, c.v, got, c.want)
		}
	}
}

package catalogue

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

const arrays = `
version: 1
services:
  - name: product
    doc: Multiplies.
    args:
      - {name: c, type: matrix-inout, dims: [a.rows, b.cols]}
      - {name: a, type: matrix}
      - {name: b, type: matrix, dims: [a.cols, b.cols], doc: Any number of columns.}
      - {name: n, type: int, default: 2}
      - {name: halves, type: vector-out, element: int32, dims: [n / 2]}
      - {name: outer, type: matrix-out, element: complex128, dims: [x.length, "max(n, 0)"]}
      - {name: x, type: vector, element: uint8}
      - {name: notes, type: file-inout}
    command: [product, "{a}", "{a.rows}x{a.cols}", "{c}", "{c.size}", "{x}", "{x.length}", "{halves}", "{halves.length}", "{outer.rows}x{outer.cols}", "{outer.size}", "{notes}", "{notes.size}"]
    walltime: {factor: 1}
    model:
      fixed: {width: 1, time: 1 + a.rows * a.cols * b.cols + x.length + a.size / 1000 + notes.size}
`

// block returns the value of an array without content.
func block(e Element, dims ...int64) Value { return Array(File{}, Layout{Element: e, Dims: dims}) }

// factors returns arguments with matching dimensions.
func factors() map[string]Value {
	return map[string]Value{
		"a": block(Float64, 3, 4), "b": block(Float64, 4, 2), "c": block(Float64, 3, 2), "x": block(Uint8,
			7), "notes": FileIn(File{Size: 5}),
	}
}

func TestBindComputesTheLayoutsOfArrays(t *testing.T) {
	s := service(t, load(t, arrays), "product")
	for i, want := range []bool{true, true, true, false, false, false, true, true} {
		if a := s.Arguments[i]; a.Required != want {
			t.Errorf("%s: required %v", a.Name, a.Required)
		}
	}
	if a := s.Arguments[1]; a.Element != Float64 || a.Dims != nil {
		t.Errorf("a: %v %v", a.Element, a.Dims)
	}
	if diff := cmp.Diff([]string{"x.length", "max(n, 0)"}, s.Arguments[5].Dims); diff != "" {
		t.Error(diff)
	}
	v, err := s.Bind(factors())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Layout{
		"a": {Float64, []int64{3, 4}}, "c": {Float64, []int64{3, 2}}, "halves": {Int32, []int64{1}}, "outer": {
			Complex128,
			[]int64{7, 2},
		}, "x": {Uint8, []int64{7}},
	} {
		if l, ok := v.Layout(name); !ok || cmp.Diff(want, l) != "" {
			t.Errorf("%s: %v %v", name, l, ok)
		}
	}
	for _, name := range []string{"n", "notes", "missing"} {
		if l, ok := v.Layout(name); ok {
			t.Errorf("%s: %v", name, l)
		}
	}
	if want := int64(3*4*8 + 4*2*8 + 3*2*8 + 7 + 5); v.Input() != want {
		t.Errorf("input of %d bytes, want %d", v.Input(), want)
	}
	paths := make(map[string]string)
	for _, a := range s.Arguments {
		paths[a.Name] = "/" + a.Name
	}
	want := []string{"product", "/a", "3x4", "/c", "48", "/x", "7", "/halves", "1", "7x2", "224", "/notes", "5"}
	if diff := cmp.Diff(want, s.Args(v, Launch{Paths: paths})); diff != "" {
		t.Error(diff)
	}
	shapes, err := s.Shapes(v, Want{}, 1, Reference)
	// 1 + 24 + 7 + 0.096 + 5
	if want := (batch.Shape{Width: 1, Walltime: 38 * batch.Second}); err != nil || len(shapes) != 1 ||
		shapes[0] != want {
		t.Errorf("%v, %v", shapes, err)
	}
}

func TestBindRefusesArraysThatDoNotMatchTheCatalogue(t *testing.T) {
	s := service(t, load(t, arrays), "product")
	for name, tt := range map[string]struct {
		arg, reason, want string
		change            Value
	}{
		"other rows": {
			"b", ReasonWrongDimensions,
			`got matrix, 5 x 2 of float64, accepted: 4 x 2, by its dims a.cols x b.cols`, block(Float64, 5, 2),
		},
		"other columns": {
			"c", ReasonWrongDimensions,
			`got matrix, 3 x 3 of float64, accepted: 3 x 2, by its dims a.rows x b.cols`, block(Float64, 3, 3),
		},
		"a vector for a matrix": {
			"a", ReasonWrongType,
			`vector "", 3 of float64, in 0 bytes, accepted: a matrix of float64`, block(Float64, 3),
		},
		"a matrix for a vector": {"x", ReasonWrongType, `accepted: a vector of uint8`, block(Uint8, 7, 1)},
		"another element": {
			"a", ReasonWrongType,
			`3 x 4 of float32, in 0 bytes, accepted: a matrix of float64`, block(Float32, 3, 4),
		},
		"no element":          {"a", ReasonWrongType, `3 x 4 of unspecified`, block(0, 3, 4)},
		"an unknown element":  {"a", ReasonWrongType, `3 x 4 of unspecified`, block(99, 3, 4)},
		"a file for a matrix": {"a", ReasonWrongType, `file "" of 96 bytes`, FileIn(File{Size: 96})},
		"a matrix for a file": {"notes", ReasonWrongType, `accepted: a file`, block(Float64, 1, 1)},
		"text for a matrix":   {"a", ReasonWrongType, `got "1,2", accepted`, Text("1,2")},
		"no value":            {"a", ReasonWrongType, `accepted: a matrix of float64`, Value{}},
		"three dimensions":    {"a", ReasonWrongType, `accepted: a matrix of float64`, block(Float64, 1, 2, 3)},
		"a negative dimension": {
			"x", ReasonWrongDimensions,
			`-7 of uint8, in 0 bytes, accepted: dimensions of at least 0`, block(Uint8, -7),
		},
		"too many elements": {
			"x", ReasonWrongDimensions,
			`accepted: dimensions of at least 0, and at most 2^53 elements`, block(Uint8, 1<<53+1),
		},
		"a product that would overflow": {
			"a", ReasonWrongDimensions, `at most 2^53 elements`,
			block(Float64, 1<<32, 1<<32),
		},
		"another size": {
			"a", ReasonWrongDimensions,
			`in 95 bytes, accepted: 96 bytes for 3 x 4 of float64`,
			Array(File{Size: 95}, Layout{Float64, []int64{3, 4}}),
		},
		"an empty block": {
			"a", ReasonWrongDimensions, `in 0 bytes, accepted: 96 bytes`,
			Array(File{SHA256: "ab"}, Layout{Float64, []int64{3, 4}}),
		},
		"a negative size": {
			"x", ReasonOutOfRange, `in -1 bytes`,
			Array(File{Size: -1}, Layout{Uint8, []int64{7}}),
		},
		"a path for a name": {
			"x", ReasonOutOfRange, `vector "../x"`,
			Array(File{Name: "../x"}, Layout{Uint8, []int64{7}}),
		},
		"a value for an output": {"halves", ReasonWrongType, `accepted: no value`, block(Int32, 1)},
		"a fractional dimension": {
			"n", ReasonWrongDimensions,
			`argument halves: got a dimension n / 2 of 1.5, accepted: a whole number, 0 to 2^53`, Int(3),
		},
		"a computed dimension below zero": {
			"n", ReasonWrongDimensions,
			`argument halves: got a dimension n / 2 of -1, accepted: a whole number`, Int(-2),
		},
		"an output too large": {
			"n", ReasonWrongDimensions,
			`argument outer: got 7 x 9007199254740992 of complex128, by its dims x.length x max(n, 0), accepted: dimensions`,
			Int(1 << 53),
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := factors()
			given[tt.arg] = tt.change
			_, err := s.Bind(given)
			var bad *ArgumentError
			if !errors.As(err, &bad) || bad.Reason != tt.reason || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v (%+v), want %s: %s", err, bad, tt.reason, tt.want)
			}
		})
	}
}

func TestBindAcceptsEmptyArrays(t *testing.T) {
	s := service(t, load(t, arrays), "product")
	given := factors()
	given["a"], given["c"], given["x"] = block(Float64, 0, 4), block(Float64, 0, 2), block(Uint8, 0)
	v, err := s.Bind(given)
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := v.Layout("outer"); l.String() != "0 x 2 of complex128" {
		t.Errorf("outer: %v", l)
	}
}

func TestLoadRefusesInvalidArrayArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{name: a, type: tensor}`: "got \"tensor\", accepted: int, " +
			"float, string, bool, file, vector, matrix, and the last three with -out or -inout",
		`{name: a, type: vector, element: float16}`: "element: got \"float16\", " +
			"accepted: float64, float32, int64, int32, uint8, complex128",
		`{name: a, type: file, element: float64}`: "element: not for type file",
		`{name: a, type: int, dims: [1]}`:         "dims: not for type int",
		`{name: a, type: vector-out}`: "dims: missing, accepted: the " +
			"dimensions of the vector-out",
		`{name: a, type: matrix-out, dims: [3]}`: "dims: got 1, accepted: rows and " +
			"columns",
		`{name: a, type: vector, dims: [1, 2]}`: "dims: got 2, accepted: the length",
		`{name: a, type: vector, dims: 3}`:      "dims: got \"3\", accepted: a list",
		`{name: a, type: vector, dims: []}`:     "dims: got 0, accepted: the length",
		`{name: a, type: vector, dims: [b]}`: "dims[0]: expression \"b\": unknown " +
			"name b",
		`{name: a, type: vector, dims: [a.rows]}`: "dims[0]: expression \"a.rows\": " +
			"type vector has no field rows at column 3",
		`{name: a, type: vector, dims: [a]}`: "dims[0]: expression \"a\": " +
			"expected float64, but got vector",
		`{name: a, type: vector-out, dims: [a.length]}`: "unknown name a",
		`{name: a, type: vector, default: "1,2"}`:       "default: not for type vector",
		`{name: a, type: matrix}, {name: b, type: matrix, dims: [a.rows, [1]]}`: "dims[1]: got a list, accepted: an " +
			"expression",
	} {
		text := fmt.Sprintf("version: 1\nservices:\n  - name: s\n    doc: D.\n    args: [%s]\n    command: [s]\n"+
			"    model: {fixed: {width: 1, time: 1s}}\n", args)
		if _, err := Load(strings.NewReader(text), "c.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
	for placeholder, known := range map[string]string{
		"{a.rows}": "{a.length}, {a.size}", "{a.}": "{a.length}", "{n.size}": "{n}", "{o.size}": "{o}",
		"{.length}":    "{a}",
		"{a.length.x}": "{a.length}",
	} {
		text := "version: 1\nservices:\n  - name: s\n    doc: D.\n" +
			"    args: [{name: a, type: vector}, {name: n, type: int}, {name: o, type: file-out}]\n" +
			"    command: [s, \"" +
			placeholder + "\"]\n    model: {fixed: {width: 1, time: 1s}}\n"
		if _, err := Load(strings.NewReader(text), "c.yaml"); err == nil || !strings.Contains(err.Error(),
			"placeholder") || !strings.Contains(err.Error(), known) {
			t.Errorf("%s: got %v", placeholder, err)
		}
	}
}

func TestLayoutBytesIsElementsTimesElementSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Layout{Element: Element(rapid.IntRange(1, 6).Draw(t, "element"))}
		count := 1.0
		for range rapid.IntRange(1, 2).Draw(t, "rank") {
			l.Dims = append(l.Dims, rapid.OneOf(rapid.Int64Range(-1, 100), rapid.Int64()).Draw(t, "dim"))
			count *= float64(l.Dims[len(l.Dims)-1])
		}
		bytes, ok := l.Bytes()
		negative := l.Dims[0] < 0 || l.Dims[len(l.Dims)-1] < 0
		huge := l.Dims[0] > 1<<53 || l.Dims[len(l.Dims)-1] > 1<<53
		if want := !negative && !huge && count <= 1<<53; ok != want {
			t.Fatalf("%v: %d, %v", l, bytes, ok)
		}
		if ok && math.Abs(float64(bytes)-count*float64(l.Element.Size())) > 0 {
			t.Fatalf("%v: %d", l, bytes)
		}
	})
}

func FuzzArrays(f *testing.F) {
	c, err := Load(strings.NewReader(arrays), "arrays.yaml")
	if err != nil {
		f.Fatal(err)
	}
	s, err := c.Service("product")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(int64(3), int64(4), int64(2), int64(7), int64(96), uint8(1), uint8(2), int64(2))
	f.Add(int64(0), int64(-4), int64(1)<<62, int64(1)<<53, int64(-1), uint8(0), uint8(3), int64(-7))
	f.Fuzz(func(t *testing.T, rows, inner, cols, length, size int64, element, rank uint8, n int64) {
		given := factors()
		given["a"] = Array(File{Size: size},
			Layout{Element: Element(element), Dims: []int64{rows, inner, cols}[:rank%4]})
		given["b"], given["c"], given["x"], given["n"] = block(Float64, inner, cols), block(Float64, rows,
			cols), block(Uint8, length), Int(n)
		v, err := s.Bind(given)
		if err != nil {
			var bad *ArgumentError
			if !errors.As(err, &bad) || bad.Accepted == "" {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		for _, a := range s.Arguments {
			if l, ok := v.Layout(a.Name); ok {
				bytes, fits := l.Bytes()
				if given, in := v.Get(a.Name); !fits || l.Element != a.Element || len(l.Dims) != a.Type.Rank() || in &&
					given.File().Size != bytes {
					t.Fatalf("%s: %v", a.Name, l)
				}
			}
		}
		if args := s.Args(v, Launch{}); len(args) != len(s.command) || strings.Contains(strings.Join(args, " "), "-") {
			t.Fatalf("%q", args)
		}
	})
}

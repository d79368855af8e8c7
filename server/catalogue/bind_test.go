package catalogue

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBindFillsInDefaultsAndConverts(t *testing.T) {
	lu := service(t, load(t, good), "lu")
	v, err := lu.Bind(map[string]Value{
		"matrix": FileIn(File{SHA256: "ab", Size: 2000}), "repeat": Text("7"),
		"check": Text("true"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := v.Get("repeat"); !ok || n != Int(7) {
		t.Errorf("repeat: %v", n)
	}
	if m, ok := v.Get("method"); !ok || m != String("dense") {
		t.Errorf("method: %v", m)
	}
	if c, _ := v.Get("check"); !c.Bool() {
		t.Errorf("check: %v", c)
	}
	if _, ok := v.Get("solution"); ok {
		t.Error("a file-out has a value")
	}
	if v.Input() != 2000 || v.Service() != lu {
		t.Errorf("input %d", v.Input())
	}
	sleep := service(t, load(t, good), "sleep")
	if v, err = sleep.Bind(map[string]Value{"seconds": Int(3)}); err != nil {
		t.Fatal(err)
	}
	if s, _ := v.Get("seconds"); s != Float(3) {
		t.Errorf("an int for a float: %v", s)
	}
}

func TestBindRefusesInvalidValues(t *testing.T) {
	lu := service(t, load(t, good), "lu")
	sleep := service(t, load(t, good), "sleep")
	matrix := FileIn(File{Size: 1})
	tests := []struct {
		name   string
		s      *Service
		given  map[string]Value
		arg    string
		reason string
		value  string
	}{
		{"a missing argument", lu, nil, "matrix", ReasonMissingArgument, ""},
		{"an unknown argument", sleep, map[string]Value{"second": Int(1)}, "second", ReasonUnknownArgument, "1"},
		{
			"text for a float that is not a number", sleep,
			map[string]Value{"seconds": Text("long")},
			"seconds",
			ReasonWrongType, `"long"`,
		},
		{"a string for a float", sleep, map[string]Value{"seconds": String("1")}, "seconds", ReasonWrongType, `"1"`},
		{
			"a float above the maximum", sleep,
			map[string]Value{"seconds": Float(3600.5)},
			"seconds", ReasonOutOfRange,
			"3600.5",
		},
		{
			"a float below the minimum", sleep,
			map[string]Value{"seconds": Text("0")},
			"seconds", ReasonOutOfRange,
			`"0"`,
		},
		{"NaN", sleep, map[string]Value{"seconds": Float(math.NaN())}, "seconds", ReasonOutOfRange, "NaN"},
		{"infinity", sleep, map[string]Value{"seconds": Text("inf")}, "seconds", ReasonOutOfRange, `"inf"`},
		{
			"a float for an int", lu,
			map[string]Value{"matrix": matrix, "repeat": Float(2)},
			"repeat", ReasonWrongType,
			"2",
		},
		{
			"an int that overflows", lu,
			map[string]Value{"matrix": matrix, "repeat": Text("9223372036854775808")},
			"repeat",
			ReasonOutOfRange, `"9223372036854775808"`,
		},
		{
			"an int below the minimum", lu,
			map[string]Value{"matrix": matrix, "repeat": Int(0)},
			"repeat", ReasonOutOfRange,
			"0",
		},
		{
			"an int above the maximum", lu,
			map[string]Value{"matrix": matrix, "repeat": Int(101)},
			"repeat",
			ReasonOutOfRange, "101",
		},
		{
			"a string that is not a choice", lu,
			map[string]Value{"matrix": matrix, "method": String("sparse")},
			"method",
			ReasonOutOfRange, `"sparse"`,
		},
		{
			"a long string", lu,
			map[string]Value{"matrix": matrix, "note": String("123456789")},
			"note", ReasonOutOfRange,
			`"123456789"`,
		},
		{
			"a NUL", lu,
			map[string]Value{"matrix": matrix, "note": String("a\x00b")},
			"note", ReasonOutOfRange,
			`"a\x00b"`,
		},
		{
			"invalid UTF-8", lu,
			map[string]Value{"matrix": matrix, "note": String("\xff")},
			"note", ReasonOutOfRange,
			`"\xff"`,
		},
		{
			"a word for a bool", lu,
			map[string]Value{"matrix": matrix, "check": Text("yes")},
			"check", ReasonWrongType,
			`"yes"`,
		},
		{
			"a path as text", lu,
			map[string]Value{"matrix": Text("/etc/passwd")},
			"matrix", ReasonWrongType,
			`"/etc/passwd"`,
		},
		{
			"a file name with a path", lu,
			map[string]Value{"matrix": FileIn(File{Name: "../a"})},
			"matrix", ReasonOutOfRange,
			`file "../a" of 0 bytes`,
		},
		{
			"a file name with control characters", lu,
			map[string]Value{"matrix": FileIn(File{Name: "\x1b[31m"})},
			"matrix",
			ReasonOutOfRange, `file "\x1b[31m" of 0 bytes`,
		},
		{
			"a file of negative size", lu,
			map[string]Value{"matrix": FileIn(File{Size: -1})},
			"matrix", ReasonOutOfRange,
			`file "" of -1 bytes`,
		},
		{
			"a value for a file-out", lu,
			map[string]Value{"matrix": matrix, "solution": String("x")},
			"solution",
			ReasonWrongType, `"x"`,
		},
		{"the zero value", lu, map[string]Value{"matrix": {}}, "matrix", ReasonWrongType, `""`},
		{
			"very long text", sleep,
			map[string]Value{"seconds": Text(strings.Repeat("9", 1000))},
			"seconds",
			ReasonOutOfRange, `"` + strings.Repeat("9", 64) + `..."`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.s.Bind(tt.given)
			var bad *ArgumentError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v", err)
			}
			if bad.Argument != tt.arg || bad.Reason != tt.reason || bad.Value != tt.value || bad.Accepted == "" ||
				bad.Service != tt.s.Name {
				t.Errorf("got %+v", bad)
			}
			if msg := bad.Error(); !strings.Contains(msg, tt.arg) || !strings.Contains(msg, "accepted: ") {
				t.Errorf("message: %s", msg)
			}
		})
	}
}

func TestBindReportsEveryProblem(t *testing.T) {
	lu := service(t, load(t, good), "lu")
	_, err := lu.Bind(map[string]Value{"z": Int(1), "a": Int(1), "repeat": Int(0)})
	want := `service lu: argument matrix: not given, accepted: a file with a size of at least 0 and a base name of at most 255 bytes without control characters
service lu: argument repeat: got 0, accepted: an integer, 1 to 100
service lu has no argument "a", accepted: matrix, repeat, method, note, check, solution
service lu has no argument "z", accepted: matrix, repeat, method, note, check, solution`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v", err)
	}
}

func TestEachCommandElementBecomesOneArgument(t *testing.T) {
	lu := service(t, load(t, good), "lu")
	v, err := lu.Bind(map[string]Value{"matrix": FileIn(File{Name: "m"}), "note": String("a; b $c")})
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Paths: map[string]string{"matrix": "/in dir/m", "solution": "/out/{x}"}}
	l.Shape.Width, l.Shape.Walltime = 3, 61_500_000
	want := []string{"lu", "--matrix=/in dir/m", "--out", "/out/{x}", "--dense", "a; b $c", "w=3 t=62 {false}"}
	if diff := cmp.Diff(want, lu.Args(v, l)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"THREADS": "3", "MODE": "plain"}, lu.Environ(v, l)); diff != "" {
		t.Error(diff)
	}
	empty, err := lu.Bind(map[string]Value{"matrix": FileIn(File{})})
	if err != nil {
		t.Fatal(err)
	}
	if got := lu.Args(empty, l); len(got) != len(want) || got[5] != "" {
		t.Errorf("an empty argument vanished: %q", got)
	}
}

func FuzzBind(f *testing.F) {
	c, err := Load(strings.NewReader(good), "good.yaml")
	if err != nil {
		f.Fatal(err)
	}
	lu, err := c.Service("lu")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("repeat", "7", "note", "hi", int64(1000), 2.5, uint8(0))
	f.Add("method", "banded", "check", "true", int64(-1), math.Inf(1), uint8(3))
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string, size int64, x float64, pick uint8) {
		given := map[string]Value{"matrix": FileIn(File{Size: size, Name: v2}), k1: Text(v1)}
		given[k2] = []Value{
			Text(v2), String(v2), Float(x), Int(size), Bool(size > 0), FileIn(File{Size: size}), {},
		}[pick%7]
		v, err := lu.Bind(given)
		if err != nil {
			var bad *ArgumentError
			if !errors.As(err, &bad) || bad.Accepted == "" {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		for _, a := range lu.Arguments {
			got, ok := v.Get(a.Name)
			if ok != (a.Type != TypeFileOut) || (ok && (got.Type() != a.Type || !a.accepts(got))) {
				t.Fatalf("%s: bound %v", a.Name, got)
			}
		}
		args := lu.Args(v, Launch{})
		if len(args) != len(lu.command) {
			t.Fatalf("%d elements: %q", len(args), args)
		}
		for _, a := range args {
			if strings.IndexByte(a, 0) >= 0 {
				t.Fatalf("NUL in %q", a)
			}
		}
		checkShapes(t, lu, v, 8)
	})
}

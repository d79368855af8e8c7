package matrixmarket

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func readFile(t *testing.T, name string) *Matrix {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := Read(f, Limits{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

func TestReadSupportsEveryKindOfFile(t *testing.T) {
	for _, tt := range []struct {
		file       string
		rows, cols int
		want       []float64
	}{
		{"coordinate.mtx", 3, 4, []float64{
			2.5, 0, 0, 0,
			0, 0, 0, 0,
			0, -0.001, 0, 400,
		}},
		{"array.mtx", 2, 3, []float64{
			1, 3, 5,
			-2, 4, 9007199254740992,
		}},
		{"symmetric.mtx", 3, 3, []float64{
			2, -1, 0,
			-1, 2, 0,
			0, 0, 1.5,
		}},
		{"symmetric_array.mtx", 3, 3, []float64{
			1, 2, 3,
			2, 4, 5,
			3, 5, 6,
		}},
		{"skew.mtx", 3, 3, []float64{
			0, -7, 0,
			7, 0, 4,
			0, -4, 0,
		}},
		{"skew_array.mtx", 3, 3, []float64{
			0, -7, 0,
			7, 0, 4,
			0, -4, 0,
		}},
		{"repeated.mtx", 2, 2, []float64{
			3.5, 0,
			1, 0,
		}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			m := readFile(t, tt.file)
			if m.Rows != tt.rows || m.Cols != tt.cols {
				t.Errorf("size %d x %d, want %d x %d", m.Rows, m.Cols, tt.rows, tt.cols)
			}
			dense, err := m.Dense()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, dense); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadKeepsListedZerosAndOrder(t *testing.T) {
	want := []Entry{{0, 0, 2.5}, {2, 1, -0.001}, {2, 3, 400}, {0, 2, 0}}
	if diff := cmp.Diff(want, readFile(t, "coordinate.mtx").Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestReadAcceptsAPatternFromHarwellBoeing(t *testing.T) {
	m := readFile(t, "jgl009.mtx")
	if got, want := m.String(), "9 x 9, 50 listed (coordinate pattern general)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if first := m.Entries[0]; first != (Entry{0, 0, 1}) {
		t.Errorf("first entry %v, want (0, 0) = 1", first)
	}
}

func TestReadErrorsNameLineAndField(t *testing.T) {
	const real = "%%MatrixMarket matrix coordinate real general\n"
	for _, tt := range []struct {
		name, text string
		line       int
		field      string
	}{
		{"empty", "", 1, "banner"},
		{"no banner", "3 3 0\n", 1, "banner"},
		{"banner not first", "\n" + real, 2, "banner"},
		{"short banner", "%%MatrixMarket matrix array real\n", 1, "banner"},
		{"vector", "%%MatrixMarket vector array real general\n", 1, "object"},
		{"complex", "%%MatrixMarket matrix array complex general\n", 1, "banner"},
		{"hermitian", "%%MatrixMarket matrix array real hermitian\n", 1, "banner"},
		{"unknown format", "%%MatrixMarket matrix list real general\n", 1, "banner"},
		{"pattern array", "%%MatrixMarket matrix array pattern general\n", 1, "banner"},
		{"skew pattern", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n", 1, "banner"},
		{"no size", real + "% only a comment\n", 3, "size"},
		{"size of two", real + "3 3\n", 2, "size"},
		{"no rows", real + "0 3 0\n", 2, "rows"},
		{"negative columns", real + "3 -3 0\n", 2, "columns"},
		{"rows over the limit", real + "1000000000000 1 1\n", 2, "rows"},
		{"rows over int64", real + "99999999999999999999 1 1\n", 2, "rows"},
		{"columns over the limit", real + "1 1000000000000 1\n", 2, "columns"},
		{"entries over the limit", real + "9 9 1000000000000\n", 2, "entries"},
		{"array over the limit", "%%MatrixMarket matrix array real general\n1000000 1000000\n", 2, "size"},
		{"symmetric array over the limit", "%%MatrixMarket matrix array real symmetric\n1000000 1000000\n", 2, "size"},
		{"not square", "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", 2, "columns"},
		{"row 0", real + "2 2 1\n0 1 1\n", 3, "row"},
		{"row over", real + "2 2 1\n3 1 1\n", 3, "row"},
		{"column over", real + "2 2 1\n% \n", 3, "entry"},
		{"column junk", real + "2 2 1\n1 1.0 1\n", 3, "column"},
		{"value junk", real + "2 2 1\n1 1 abc\n", 3, "value"},
		{"value nan", real + "2 2 1\n1 1 nan\n", 3, "value"},
		{"value inf", real + "2 2 1\n1 1 -Inf\n", 3, "value"},
		{"value overflow", real + "2 2 1\n1 1 1e999\n", 3, "value"},
		{"value hexadecimal", real + "2 2 1\n1 1 0x1p4\n", 3, "value"},
		{"no value", real + "2 2 1\n1 1\n", 3, "entry"},
		{"ends early", real + "2 2 2\n1 1 1\n", 4, "entries"},
		{"text after the last entry", real + "2 2 1\n1 1 1\n\n2 2 2\n", 5, "entries"},
		{"upper triangle", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", 3, "row"},
		{"skew diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", 3, "row"},
		{"integer fraction", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", 3, "value"},
		{
			"integer over 2^53", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 9007199254740993\n", 3,
			"value",
		},
		{"two values a line", "%%MatrixMarket matrix array real general\n2 1\n1 2\n", 3, "value"},
		{"endless line", real + "%" + strings.Repeat("x", MaxLine), 2, "line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Read(strings.NewReader(tt.text), Limits{})
			var parse *ParseError
			if !errors.As(err, &parse) {
				t.Fatalf("got %v, %v, want a ParseError", m, err)
			}
			if parse.Line != tt.line || parse.Field != tt.field {
				t.Errorf("got %q, want line %d and field %s", err, tt.line, tt.field)
			}
			if len(err.Error()) > 200 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestReadRespectsTheCallersLimits(t *testing.T) {
	const text = "%%MatrixMarket matrix coordinate real general\n5 6 1\n1 1 1\n"
	for _, fits := range []Limits{{}, {Rows: 5, Cols: 6, Entries: 1}} {
		if _, err := Read(strings.NewReader(text), fits); err != nil {
			t.Errorf("%+v: %v", fits, err)
		}
	}
	for _, tight := range []Limits{{Rows: 4}, {Cols: 5}} {
		if _, err := Read(strings.NewReader(text), tight); err == nil {
			t.Errorf("%+v accepted a 5 x 6 matrix", tight)
		}
	}
}

func TestReadReturnsTheReadersError(t *testing.T) {
	broken := errors.New("network down")
	text := strings.NewReader("%%MatrixMarket matrix array real general\n2 1\n1\n")
	_, err := Read(io.MultiReader(text, iotest.ErrReader(broken)), Limits{})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestDenseRefusesTooManyValues(t *testing.T) {
	text := "%%MatrixMarket matrix coordinate real general\n1000000 1000000 0\n"
	m, err := Read(strings.NewReader(text), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Dense(); err == nil {
		t.Error("10^12 values were laid out")
	}
}

func TestWriteRefusesWhatReadRefuses(t *testing.T) {
	ok := func() *Matrix { return NewVector([]float64{1, 2}) }
	for name, spoil := range map[string]func(*Matrix){
		"format":        func(m *Matrix) { m.Format = "list" },
		"field":         func(m *Matrix) { m.Field = "complex" },
		"symmetry":      func(m *Matrix) { m.Symmetry = "hermitian" },
		"not square":    func(m *Matrix) { m.Symmetry = Symmetric },
		"no rows":       func(m *Matrix) { m.Rows, m.Values = 0, nil },
		"value missing": func(m *Matrix) { m.Values = m.Values[:1] },
		"entries too":   func(m *Matrix) { m.Entries = []Entry{{}} },
		"infinite":      func(m *Matrix) { m.Values[0] = 1 / (m.Values[0] - 1) },
		"fraction":      func(m *Matrix) { m.Field, m.Values[0] = Integer, 1.5 },
		"outside":       func(m *Matrix) { m.Format, m.Values, m.Entries = Coordinate, nil, []Entry{{2, 0, 1}} },
		"pattern value": func(m *Matrix) {
			m.Format, m.Field, m.Values, m.Entries = Coordinate, Pattern, nil,
				[]Entry{{0, 0, 2}}
		},
		"upper triangle": func(m *Matrix) { *m = Matrix{Coordinate, Real, Symmetric, 2, 2, []Entry{{0, 1, 1}}, nil} },
	} {
		m := ok()
		spoil(m)
		var out bytes.Buffer
		if err := Write(&out, m); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes, want an error and none", name, err, out.Len())
		}
	}
	if err := Write(io.Discard, ok(), "two\nlines"); err == nil {
		t.Error("a comment of two lines was written")
	}
}

func TestWriteReturnsTheWritersError(t *testing.T) {
	r, w := io.Pipe()
	broken := errors.New("disk full")
	r.CloseWithError(broken)
	if err := Write(w, NewVector([]float64{1})); !errors.Is(err, broken) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

func TestWriteWritesTheStandardFormat(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, NewVector([]float64{1, -0.1, 1e300}), "by hand"); err != nil {
		t.Fatal(err)
	}
	want := "%%MatrixMarket matrix array real general\n% by hand\n3 1\n1\n-0.1\n1e+300\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// checkRoundTrip writes m and expects to read it back equal.
func checkRoundTrip(t interface {
	Helper()
	Fatalf(string, ...any)
}, m *Matrix,
) {
	t.Helper()
	var text bytes.Buffer
	if err := Write(&text, m, "round trip"); err != nil {
		t.Fatalf("write: %v", err)
	}
	again, err := Read(&text, Limits{})
	if err != nil {
		t.Fatalf("read back: %v", err)
	}
	if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("changed (-written +read):\n%s", diff)
	}
}

func TestRandomMatricesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Matrix{
			Format:   rapid.SampledFrom([]Format{Coordinate, Array}).Draw(t, "format"),
			Field:    rapid.SampledFrom([]Field{Real, Integer, Pattern}).Draw(t, "field"),
			Symmetry: rapid.SampledFrom([]Symmetry{General, Symmetric, SkewSymmetric}).Draw(t, "symmetry"),
			Rows:     rapid.IntRange(1, 8).Draw(t, "rows"),
		}
		if m.Cols = m.Rows; m.Symmetry == General {
			m.Cols = rapid.IntRange(1, 8).Draw(t, "columns")
		}
		if m.validateHeader() != nil {
			t.Skip("words that do not go together")
		}
		value := rapid.Float64()
		switch m.Field {
		case Integer:
			value = rapid.Map(rapid.Int64Range(-MaxInteger, MaxInteger), func(n int64) float64 { return float64(n) })
		case Pattern:
			value = rapid.Just(1.0)
		}
		if m.Format == Array {
			m.Values = rapid.SliceOfN(value, m.stored(), m.stored()).Draw(t, "values")
		} else {
			for col := range m.Cols {
				for row := m.firstRow(col); row < m.Rows; row++ {
					if rapid.Bool().Draw(t, "listed") {
						m.Entries = append(m.Entries, Entry{row, col, value.Draw(t, "value")})
					}
				}
			}
		}
		checkRoundTrip(t, m)
	})
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.mtx")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds in testdata (%v)", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read(bytes.NewReader(text), Limits{})
		if err != nil {
			var parse *ParseError
			if !errors.As(err, &parse) || parse.Line < 1 || parse.Field == "" {
				t.Fatalf("%v is no ParseError with line and field", err)
			}
			return
		}
		checkRoundTrip(t, m)
		if m.Rows <= 1000 && m.Cols <= 1000 {
			if _, err := m.Dense(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

package catalogue

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// checkShapes checks the offers of a service against the contract of Shapes.
func checkShapes(t interface{ Fatalf(string, ...any) }, s *Service, v Values, most int32) {
	shapes, err := s.Shapes(v, Want{}, most, Reference)
	if err != nil {
		var model *ModelError
		var shape *ShapeError
		if !errors.As(err, &model) && !errors.As(err, &shape) {
			t.Fatalf("untyped error: %v", err)
		}
		return
	}
	last := int32(0)
	for _, sh := range shapes {
		if sh.Width <= last || sh.Width > most || sh.Walltime < batch.Second || sh.Walltime > MaxTime ||
			sh.Walltime%batch.Second != 0 {
			t.Fatalf("shapes %v", shapes)
		}
		last = sh.Width
	}
	if len(shapes) == 0 {
		t.Fatalf("no shapes and no error")
	}
}

func TestShapesOfEachModel(t *testing.T) {
	c := load(t, good)
	lu, render, sleep := service(t, c, "lu"), service(t, c, "render"), service(t, c, "sleep")
	matrix := map[string]Value{"matrix": FileIn(File{Size: 5000})} // work 10 × 2 × 5 = 100 s
	tests := []struct {
		name  string
		s     *Service
		given map[string]Value
		want  Want
		most  int32
		speed Speed
		shape string
	}{
		// Walltime 2 × 100 × (1/4 + 3/4/n) + 10.
		{"amdahl stops at its limit", lu, matrix, Want{}, 100, Reference, "1x3m30s 2x2m15s 3x1m50s 4x1m38s"},
		{"amdahl on a narrow site", lu, matrix, Want{}, 2, Reference, "1x3m30s 2x2m15s"},
		{
			"a width beyond the limit has the speedup of the limit", lu, matrix,
			Want{Width: 8},
			100, Reference,
			"8x1m38s",
		},
		{"a fast site shortens the run and not the margin", lu, matrix, Want{}, 2, 2 * Reference, "1x1m50s 2x1m13s"},
		{"a slow site", lu, matrix, Want{Width: 1}, 2, Reference / 2, "1x6m50s"},
		{
			"a requested walltime omits widths that are too slow", lu, matrix,
			Want{Walltime: 60 * batch.Second},
			100,
			Reference, "3x1m0s 4x1m0s",
		},
		{
			"a requested width with a requested walltime", lu, matrix,
			Want{Width: 1, Walltime: 5 * batch.Second},
			100,
			Reference, "1x5s",
		},
		{
			"a site's longest walltime cuts margins and omits slow widths", lu, matrix,
			Want{Longest: 75 * batch.Second},
			100,
			Reference, "2x1m15s 3x1m15s 4x1m15s",
		},
		{"a table in any order", render, nil, Want{}, 100, Reference, "1x1m40s 2x55s 4x30s"},
		{"a table on a narrow site", render, nil, Want{}, 3, Reference, "1x1m40s 2x55s"},
		{"a row of a table", render, nil, Want{Width: 2}, 3, Reference, "2x55s"},
		{"rigid, with the default factor", sleep, map[string]Value{"seconds": Int(10)}, Want{}, 4, Reference, "1x13s"},
		{
			"a second for almost no work",
			service(t,
				load(t, "version: 1\nservices: [{name: a, doc: A., command: [a], model: {fixed: {width: 1, time: "+
					"1e-9}}}]"), "a"), nil,
			Want{},
			4, Reference, "1x1s",
		},
		{
			"a second on a very fast site", sleep,
			map[string]Value{"seconds": Float(0.1)},
			Want{},
			4, 1000 * Reference,
			"1x1s",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := tt.s.Bind(tt.given)
			if err != nil {
				t.Fatal(err)
			}
			shapes, err := tt.s.Shapes(v, tt.want, tt.most, tt.speed)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range shapes {
				got = append(got, s.String())
			}
			if diff := cmp.Diff(tt.shape, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShapesRefusesWhatTheServiceOrSiteCannotOffer(t *testing.T) {
	c := load(t, good+`
  - name: wide
    doc: Chooses its width.
    args: [{name: n, type: float}, {name: t, type: float}]
    command: [wide]
    model: {fixed: {width: n, time: 1 / t}}
  - {name: twice, doc: Chooses it too., args: [{name: n, type: int}], command: [twice], model: {fixed: {width: 2 * n, time: 1}}}
  - name: cube
    doc: Grows quickly.
    args: [{name: n, type: int}]
    command: [cube]
    model: {amdahl: {work: n ** 3, parallel: 1}}
  - name: rows
    doc: A row per width.
    args: [{name: n, type: int}]
    command: [rows]
    model: {table: {1: 100, 4: n}}
  - {name: narrow, doc: Between two and four., command: [narrow], model: {amdahl: {work: 9, parallel: 0, limit: 1, min_width: 2, max_width: 4}}}
  - {name: broad, doc: At least nine., command: [broad], model: {amdahl: {work: 9, parallel: 0, min_width: 9}}}
  - {name: eternal, doc: Fits no walltime., command: [eternal], walltime: {factor: 100, margin: 1h}, model: {fixed: {width: 1, time: 1e12}}}
`)
	tests := []struct {
		name    string
		service string
		given   map[string]Value
		want    Want
		message string
	}{
		{"too wide", "sleep", nil, Want{Width: 9}, "service sleep: width: 9, accepted: 1..8"},
		{"negative width", "sleep", nil, Want{Width: -1}, "service sleep: width: -1, accepted: 1..8"},
		{"another width of a rigid service", "sleep", nil, Want{Width: 2}, "service sleep: width: 2, accepted: 1"},
		{"a width between rows", "render", nil, Want{Width: 3}, "service render: width: 3, accepted: 1, 2, 4"},
		{
			"rigid and wider than the site", "wide",
			map[string]Value{"n": Int(9), "t": Int(1)},
			Want{},
			"service wide: width: 9, set by argument n, accepted: 1..8 at this site",
		},
		{
			"a width beside that of an argument", "wide",
			map[string]Value{"n": Int(2), "t": Int(1)},
			Want{Width: 4},
			"service wide: width: 4, accepted: 2, set by argument n",
		},
		{
			"a width beside that of a formula", "twice",
			map[string]Value{"n": Int(2)},
			Want{Width: 2},
			"service twice: width: 2, accepted: 4, set by 2 * n",
		},
		{
			"walltime above the maximum", "sleep", nil,
			Want{Walltime: MaxTime + 1},
			"service sleep: walltime: 87660h0m0.000001s, accepted: 1s..87660h0m0s",
		},
		{
			"walltime below a second", "sleep", nil,
			Want{Walltime: 999_999},
			"service sleep: walltime: 999.999ms, accepted: 1s..87660h0m0s",
		},
		{
			"walltime too short for any width", "render", nil,
			Want{Walltime: 29 * batch.Second},
			"service render: walltime: 29s, accepted: at least the estimated 30s, or a width as well",
		},
		{
			"walltime beyond the site's", "sleep", nil,
			Want{Walltime: 61 * batch.Second, Longest: batch.Minute},
			"service sleep: walltime: 1m1s, accepted: 1s..1m0s",
		},
		{
			"estimates beyond the site's", "render", nil,
			Want{Longest: 10 * batch.Second},
			"service render: walltime: estimated runtime 30s, accepted: a walltime of at most 10s",
		},
		{
			"a width that is no integer", "wide",
			map[string]Value{"n": Float(1.5), "t": Int(1)},
			Want{},
			"service wide: model fixed: width: got 1.5, accepted: an integer, 1..67108864",
		},
		{
			"a width of zero", "wide",
			map[string]Value{"n": Int(0), "t": Int(1)},
			Want{},
			"service wide: model fixed: width: got 0",
		},
		{
			"a gigantic width", "wide",
			map[string]Value{"n": Float(1e300), "t": Int(1)},
			Want{},
			"service wide: model fixed: width: got 1e+300",
		},
		{
			"infinite time", "wide",
			map[string]Value{"n": Int(1), "t": Int(0)},
			Want{},
			`service wide: model fixed: time: expression "1 / t": got +Inf, accepted: a finite number`,
		},
		{
			"negative time", "wide",
			map[string]Value{"n": Int(1), "t": Int(-1)},
			Want{},
			"service wide: model fixed: time: got -1 seconds, accepted: above 0",
		},
		{
			"work of zero", "cube",
			map[string]Value{"n": Int(0)},
			Want{},
			"service cube: model amdahl: work: got 0 seconds",
		},
		{
			"work beyond all limits", "cube",
			map[string]Value{"n": Int(1 << 62)},
			Want{},
			"service cube: model amdahl: work: got ",
		},
		{
			"work of centuries", "cube",
			map[string]Value{"n": Int(9000)},
			Want{},
			"service cube: walltime: estimated runtime ",
		},
		{
			"beyond the largest width", "lu",
			map[string]Value{"matrix": FileIn(File{Size: 1})},
			Want{Width: 10},
			"service lu: width: 10, accepted: 1..8",
		},
		{"outside the offered widths", "narrow", nil, Want{Width: 5}, "service narrow: width: 5, accepted: 2..4"},
		{"below the offered widths", "narrow", nil, Want{Width: 1}, "service narrow: width: 1, accepted: 2..4"},
		{
			"a site below the least width", "broad", nil,
			Want{},
			"service broad: width: 9..67108864, accepted: 1..8 at this site",
		},
		{"a walltime that overflows", "eternal", nil, Want{}, "service eternal: walltime: estimated runtime "},
		{"a bad row", "rows", map[string]Value{"n": Int(0)}, Want{}, "service rows: model table: 4: got 0 seconds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := service(t, c, tt.service)
			v, err := s.Bind(tt.given)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Shapes(v, tt.want, 8, Reference)
			if err == nil || !strings.HasPrefix(err.Error(), tt.message) {
				t.Errorf("got  %v\nwant %s...", err, tt.message)
			}
		})
	}
}

func TestRoundingErrorsDoNotAddASecond(t *testing.T) {
	// 100 × (0.1 + 0.9/1) and 10 × 1.1 are slightly too large in float64.
	c := load(t, `
version: 1
services:
  - {name: a, doc: A., command: [a], walltime: {factor: 1}, model: {amdahl: {work: 100, parallel: 0.9}}}
  - {name: b, doc: B., command: [b], walltime: {factor: 1.1}, model: {fixed: {width: 1, time: 10}}}
`)
	for name, want := range map[string]batch.Duration{"a": 100 * batch.Second, "b": 11 * batch.Second} {
		s := service(t, c, name)
		v, _ := s.Bind(nil)
		shapes, err := s.Shapes(v, Want{}, 1, Reference)
		if err != nil || shapes[0].Walltime != want {
			t.Errorf("%s: %v %v, want %v", name, shapes, err, want)
		}
	}
}

func TestExpressionsCannotLoopAllocateOrReadTheClock(t *testing.T) {
	args := []Argument{{Name: "n", Type: TypeInt}, {Name: "s", Type: TypeString}, {Name: "f", Type: TypeFileIn}}
	for _, source := range []string{
		"max(1..5)", "now()", "date('2020-01-01')", "sum(map(1..9, #))", "let r = 1..9; count(r, count(r, true) > 0)",
		"n in [1]", "1..2", "[1][0]",
		"{'a': 1}.a", "$env.n", "s matches 'a+' ? 1 : 2", "len(s)", "repeat(s, 9)", "s", "n == 1", "f", "f.name", "x",
		"", "1 +", "n;n",
		"toJSON(n)", "reduce(1..9, #acc + #)", strings.Repeat("n+", 300) + "n", strings.Repeat(" ",
			maxExpression) + "1", "1 | now()", "s[0:1] == 'a' ? 1 : 2",
	} {
		if e, err := compile(source, args); err == nil {
			t.Errorf("%q compiled to %v", source, e)
		}
	}
}

func TestErrorsNameRefusedOperators(t *testing.T) {
	for source, want := range map[string]string{
		"max(1..5)": "operator ..", "s in s ? 1 : 2": "operator in",
		"sum([1])": "Array syntax",
	} {
		if _, err := compile(source, []Argument{{Name: "s", Type: TypeString}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", source, err)
		}
	}
}

func TestExpressionsComputeInFloat64(t *testing.T) {
	s := &Service{Arguments: []Argument{
		{Name: "n", Type: TypeInt},
		{Name: "s", Type: TypeString},
		{Name: "b", Type: TypeBool},
		{Name: "f", Type: TypeFileIn},
	}}
	v := Values{service: s, list: []Value{Int(3_000_000_000), String("x"), Bool(true), FileIn(File{Size: 20})}}
	for source, want := range map[string]float64{
		"n * n * n":                             2.7e28, // an int64 would have overflowed
		"3000000000 * 3000000000 * 3":           2.7e19,
		"7 / 2":                                 3.5,
		"2 ** 10":                               1024,
		"s == 'x' ? 1 : 2":                      1,
		"b && n > 1 ? max(n, 5, 1) : 0":         3e9,
		"let r = sqrt(f.size * 5); r + log2(8)": 13,
		"ceil(1.2) + floor(1.8) + round(2.5) + abs(-1) + min(4, 3) + exp(0) + log(1)": 2 + 1 + 3 + 1 + 3 + 1,
		"n == 3000000000 ? 1 : 0": 1,
	} {
		e, err := compile(source, s.Arguments)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := e.eval(v); err != nil || got != want {
			t.Errorf("%s: got %v %v, want %v", source, got, err, want)
		}
	}
}

func TestModelsOfferABoundedNumberOfWidths(t *testing.T) {
	m := &amdahlMenu{amdahl: &amdahl{lo: 1, hi: batch.MaxProcessors, limit: batch.MaxProcessors, parallel: 1}, work: 1}
	if n := len(m.candidates(nil, batch.MaxProcessors)); n != maxMenu {
		t.Errorf("%d widths, want %d", n, maxMenu)
	}
}

func TestScaleRoundsTheExactQuotientUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := batch.Duration(rapid.Int64Range(0, int64(batch.Forever)).Draw(t, "d"))
		s := Speed(rapid.Int64Range(int64(MinSpeed), int64(MaxSpeed)).Draw(t, "s"))
		want := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(int64(Reference)))
		want.Add(want, big.NewInt(int64(s)-1)).Div(want, big.NewInt(int64(s)))
		if !want.IsInt64() || d == batch.Forever {
			want.SetInt64(int64(batch.Forever))
		}
		if got := s.Scale(d); int64(got) != want.Int64() {
			t.Fatalf("%v at speed %v: got %d, want %v", d, s, got, want)
		}
	})
}

func TestWalltimeRoundsUpToWholeSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Speed(rapid.Int64Range(int64(MinSpeed), int64(MaxSpeed)).Draw(t, "s"))
		d := batch.Duration(rapid.Int64Range(0, int64(MaxTime)).Draw(t, "d"))
		if got, want := s.Walltime(d), s.Scale(d).CeilSeconds(); got != want {
			t.Fatalf("%v at speed %v is %v, want %v", d, s, got, want)
		}
	})
	for _, d := range []batch.Duration{batch.Forever, batch.Forever - 1} {
		if got := MinSpeed.Walltime(d); got != batch.Forever {
			t.Errorf("%d is %d", int64(d), int64(got))
		}
	}
	if got := MaxSpeed.Walltime(batch.Forever); got != batch.Forever {
		t.Errorf("forever is %d", int64(got))
	}
}

func TestScaleOverflowIsForever(t *testing.T) {
	// The first two quotients are below 2^64, the third is not.
	for _, d := range []batch.Duration{batch.Forever/3 + 1, batch.Forever / 2, batch.Forever - 1} {
		if got := (Reference / 3).Scale(d); got != batch.Forever {
			t.Errorf("%d: got %d", int64(d), int64(got))
		}
	}
}

func TestParseSpeedAcceptsTheRangeOfSpeeds(t *testing.T) {
	for text, want := range map[string]Speed{
		"1": Reference, "1.25": 1_250_000, "0.001": MinSpeed, "1000": MaxSpeed,
		"1.1": 1_100_000,
	} {
		if got, err := ParseSpeed(text); err != nil || got != want || got.Validate() != nil {
			t.Errorf("%s: got %d %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1001", "NaN", "inf", "fast"} {
		if _, err := ParseSpeed(text); err == nil || !strings.Contains(err.Error(), "0.001 to 1000") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if Speed(0).Validate() == nil {
		t.Error("speed 0 is valid")
	}
}

func TestWidthsOfEachModel(t *testing.T) {
	c := load(t, good+`
  - {name: any, doc: Chooses., args: [{name: n, type: int}], command: [any], model: {fixed: {width: n, time: 1}}}
`)
	for name, want := range map[string][3]int32{
		"lu": {1, 8, 1}, "render": {1, 4, 1}, "sleep": {1, 1, 0},
		"any": {1, batch.MaxProcessors, 0},
	} {
		lo, hi, moldable := service(t, c, name).Widths()
		if lo != want[0] || hi != want[1] || moldable != (want[2] == 1) {
			t.Errorf("%s: got %d..%d %v", name, lo, hi, moldable)
		}
	}
}

func TestAMinimumWidthBeyondTheLimitIsOffered(t *testing.T) {
	s := service(t, load(t, `
version: 1
services:
  - {name: a, doc: A., command: [a], walltime: {factor: 1}, model: {amdahl: {work: 100, parallel: 1, limit: 2, min_width: 4}}}
`), "a")
	v, _ := s.Bind(nil)
	shapes, err := s.Shapes(v, Want{}, 8, Reference)
	if diff := cmp.Diff([]batch.Shape{{Width: 4, Walltime: 50 * batch.Second}}, shapes); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

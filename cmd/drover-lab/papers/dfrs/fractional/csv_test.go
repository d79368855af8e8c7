package fractional

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestRowsAreReadBackAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
			count := func(name string) int { return rapid.IntRange(0, 1_000_000).Draw(t, name) }
			number := func(name string) float64 { return rapid.Float64Range(0, 1e12).Draw(t, name) }
			return Row{
				Case: Case{
					Set: rapid.SampledFrom(Sets).Draw(t, "set"), Trace: count("trace"),
					Load: rapid.IntRange(0, 9).Draw(t, "load"),
					Algorithm: rapid.SampledFrom([]string{
						EASY, "GreedyPM*/per/opt=min/minvt=600", `a, "b" decay=1h`,
					}).Draw(t, "algorithm"),
					Period:  batch.Duration(count("period")) * batch.Second,
					Penalty: batch.Duration(count("penalty")) * batch.Second,
				},
				Jobs: count("jobs"), Bound: number("bound"), MaxStretch: number("max"), MeanStretch: number("mean"),
				Preemptions: count("preemptions"), Migrations: count("migrations"),
				PreemptedBytes: rapid.Int64Min(0).Draw(t, "out"), MigratedBytes: rapid.Int64Min(0).Draw(t, "moved"),
				Span: batch.Duration(rapid.Int64Range(0, 1e14).Draw(t, "span")), Work: number("work"),
				Demand: number("demand"),
			}
		}), 0, 4).Draw(t, "rows")
		var b bytes.Buffer
		if err := WriteCSV(&b, rows); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&b)
		if err != nil || len(got) != len(rows) || len(rows) > 0 && !cmp.Equal(rows, got) {
			t.Fatalf("%v\n%s", err, cmp.Diff(rows, got))
		}
	})
}

func TestABadTableIsRefused(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, []Row{{Case: Case{Set: HPC2N, Algorithm: EASY}, Jobs: 3, Bound: 1.5}}); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	for _, c := range []struct{ from, to, column string }{
		{"schema,set", "shema,set", "schema"},
		{Schema, "drover.sim.dfrs/0", "schema"},
		{"hpc2n,0", "hpc2n,-1", "trace"},
		{"EASY,0,0", "EASY,2e9,0", "period"},
		{",3,1.5", ",x,1.5", "jobs"},
		{"1.5", "NaN", "bound"},
	} {
		text := strings.Replace(whole, c.from, c.to, 1)
		_, err := ReadCSV(strings.NewReader(text))
		if p, ok := errors.AsType[*ParseError](err); !ok || p.Column != c.column {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	var b bytes.Buffer
	if err := WriteCSV(&b, []Row{{
		Case: Case{Set: Scaled, Load: 7, Trace: 1, Algorithm: EASY}, Jobs: 3,
		Bound: 1.5,
	}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteCSV(&again, rows); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&again)
		if err != nil || !cmp.Equal(rows, got) {
			t.Fatalf("%v\n%s", err, cmp.Diff(rows, got))
		}
	})
}

package reallocation

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

func TestReadSkipsReferences(t *testing.T) {
	text := "# made up\n" + headLine +
		"pwa,false,true,binary,1,none,,,,,,9,9,,,,,,,,500,,1,2,,0,0,0,0,0,0,0,0\n" +
		"pwa,false,true,binary,1,all-cancellation,mct,all,3600,0,off," +
		"9,8,4,0.5,2,0.25,3,0.75,0.9,450,500,1,2,4,0,24,48,96,7,0,6,0\n" +
		"pwa,false,false,binary,1,regular,minmin,20,3600,60,3,9,3,0,0,0,0,0,,,450,500,1,2,4,0,24,48,96,0,0,0,0\n"
	r := rowsOf(t, text)
	if r.Len() != 2 {
		t.Fatalf("%d rows", r.Len())
	}
	// Neither a window under mct, nor a threshold under all-cancellation, nor a
	// patience under regular makes an experiment another one.
	can := r.index[Key{Scenario: "pwa", Dedicated: true, Tuning: binary, Seed: 1, Way: mctCan.way()}]
	reg := r.index[Key{Scenario: "pwa", Tuning: binary, Seed: 1, Way: minminReg.way()}]
	if can == nil || reg == nil {
		t.Fatalf("%v", r.rows)
	}
	for _, tc := range []struct {
		row  *Row
		of   *metric
		want optional
	}{
		{can, impacted, optional{0.5, true}},
		{can, reallocations, optional{0.25, true}},
		{can, early, optional{0.75, true}},
		{can, relative, optional{0.9, true}},
		{can, responseAll, optional{0.9, true}},
		{can, slowdownAll, optional{0.5, true}},
		{can, estimates, optional{12, true}},
		{reg, impacted, optional{0, true}},
		{reg, early, optional{}},    // of no jobs
		{reg, relative, optional{}}, // of no jobs
	} {
		if got := tc.of.of(tc.row); got != tc.want {
			t.Errorf("%s of %v: %v, want %v", tc.of.name, tc.row.Key, got, tc.want)
		}
	}
	if can.PutBackLater != 6 {
		t.Errorf("put back later %d times", can.PutBackLater)
	}
}

func TestReadErrorsNameTheLine(t *testing.T) {
	if n := rowsOf(t, headLine+goodLine+goodLine).Len(); n != 1 {
		t.Errorf("an experiment that is there twice: %d rows", n)
	}
	for want, text := range map[string]string{
		`r.csv: "", accepted: a head line`:                               "",
		`with scenario, homogeneous, dedicated, tuning, seed, algorithm`: "a,b\n",
		`line 2: seed: "x", accepted: a whole number from 0 on`: headLine +
			strings.Replace(goodLine, "binary,1,", "binary,x,", 1),
		`line 2: dedicated: "yes", accepted: true, false`: headLine +
			strings.Replace(goodLine, "true", "yes", 1),
		`line 2: tuning: "none", accepted: binary, exhaustive`: headLine +
			strings.Replace(goodLine, "binary", "none", 1),
		`line 2: algorithm: "any", accepted: regular, all-cancellation`: headLine +
			strings.Replace(goodLine, "regular", "any", 1),
		`line 2: grid_jobs: "-8", accepted: a whole number from 0 on`: headLine +
			strings.Replace(goodLine, ",9,8,", ",9,-8,", 1),
		`line 2: relative_response: "NaN", accepted: a number from 0 on`: headLine +
			strings.Replace(goodLine, "0.9,", "NaN,", 1),
		`line 2: relative_response: "", accepted: a number`: headLine +
			strings.Replace(goodLine, "0.9,", ",", 1),
		`line 2: impacted: "4", accepted: between early and grid_jobs`: headLine +
			strings.Replace(goodLine, ",9,8,4,", ",9,3,4,", 1),
		`line 3: "pwa, dedicated, binary tuning, seed 1, MCT-reg", accepted: an experiment that`: headLine + goodLine +
			strings.Replace(goodLine, "0.9,", "0.8,", 1),
		`wrong number of fields`: headLine + "pwa\n",
	} {
		r := &Rows{}
		if err := r.Read(strings.NewReader(text), "r.csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	err := (&Rows{}).Read(strings.NewReader(headLine+strings.Replace(goodLine, "true", "yes", 1)), "r.csv")
	if e, ok := errors.AsType[*papers.ParseError](err); !ok || e.Line != 2 || e.Column != "dedicated" {
		t.Errorf("%+v", e)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(headLine + goodLine)
	f.Add(headLine + "pwa,false,true,binary,1,none,,,,,,9,9,,,,,,,,500,,1,2,,0,0,0,0,0,0,0,0\n")
	f.Add(
		headLine +
			"\"p|wa\n\",true,false,exhaustive,18446744073709551615,all-cancellation,minmin,all,900,60,3," +
			"1,1,1,1,9,9,1,1,1e300,1e300,1e-300,1,1e9,1,0,1,1,9223372036854775807,0,0,9,0\n",
	)
	f.Fuzz(func(t *testing.T, text string) {
		r := &Rows{}
		if r.Read(strings.NewReader(text), "f.csv") != nil {
			return
		}
		// What was read can be reported, however little it is.
		if r.Len() > 0 {
			p := Plan{
				Scenarios: []string{r.rows[0].Scenario}, Seeds: []uint64{r.rows[0].Seed}, Tuning: r.rows[0].Tuning,
			}
			if _, err := NewReport(r, Options{Plan: p, Partial: true}); err != nil {
				t.Error(err)
			}
		}
	})
}

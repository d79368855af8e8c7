package heuristic

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestConstantsAreExactDecimals(t *testing.T) {
	for in, want := range map[string]Constant{
		"0": 0, "1": One, "0.02": One / 50, "10.0": 10 * One, "2.5": 5 * One / 2, "1000000": most, "0.000001": 1,
		"007": 7 * One,
	} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", ".", "1.", ".5", "-1", "+1", "1e3", "0x1", "1,5", " 1", "1.0000001", "1000000.000001",
		"99999999999999999999999", "1.2.3", "NaN",
	} {
		if got, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.02", "10", "1.3", "-1", "1000000", "9.9999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if c < 0 || c > most {
			t.Fatalf("Parse(%q) = %d", s, c)
		}
		if again, err := Parse(c.String()); err != nil || again != c {
			t.Fatalf("%q is written %q and read %d, %v", s, c, again, err)
		}
	})
}

func TestEveryConstantIsASetting(t *testing.T) {
	want := map[string]string{
		"deadlineMax": "10", "deadlineMin": "0.1", "deadlineK": "1.3", "licenses": "2.5",
		"input": "3", "wait": "4", "overhead": "8", "aging": "0.02",
	}
	if len(want) != len(Keys()) {
		t.Fatalf("keys are %v", Keys())
	}
	c := Paper()
	for _, key := range Keys() {
		if got := c.named(key).String(); got != want[key] {
			t.Errorf("%s is %s in the paper, here %s", key, want[key], got)
		}
	}
	for i, key := range Keys() {
		v := Constant(i+2) * One
		if problem := c.Set(key, v.String()); problem != "" {
			t.Errorf("Set(%s): accepted: %s", key, problem)
		}
	}
	all := Constants{2 * One, 3 * One, 4 * One, 5 * One, 6 * One, 7 * One, 8 * One, 9 * One, batch.Second, false}
	if c != all {
		t.Errorf("set to %+v, want %+v", c, all)
	}
}

func TestInvalidConstantsAreRefused(t *testing.T) {
	c := Paper()
	for _, bad := range [][2]string{{"deadlineK", "0"}, {"deadlineK", "1001"}, {"aging", "much"}, {"Aging", "1"}} {
		if c.Set(bad[0], bad[1]) == "" {
			t.Errorf("%s=%s was accepted", bad[0], bad[1])
		}
	}
	if c != Paper() {
		t.Error("a refused setting changed something")
	}
	for what, change := range map[string]func(*Constants){
		"deadlineMin": func(c *Constants) { c.DeadlineMin = 11 * One },
		"deadlineK":   func(c *Constants) { c.DeadlineK = 0 },
		"wait":        func(c *Constants) { c.Wait = -1 },
		"aging":       func(c *Constants) { c.AgingUnit = -1 },
	} {
		c := Paper()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("Validate: %v, want something about %s", err, what)
		}
	}
	if err := c.Validate(); err != nil {
		t.Errorf("the paper's constants: %v", err)
	}
}

package lublin

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

func generate(t testing.TB, c Config) *swf.Trace {
	t.Helper()
	trace, err := Generate(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// wanted draws any small workload.
func wanted(t *rapid.T) Config {
	c := Config{
		Procs:   rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, MaxProcs)).Draw(t, "procs"),
		Seed:    rapid.Uint64().Draw(t, "seed"),
		Classes: Classes(rapid.IntRange(0, 3).Draw(t, "classes")), Users: rapid.IntRange(0, 5).Draw(t, "users"),
	}
	if rapid.Bool().Draw(t, "by days") {
		c.Days = rapid.IntRange(1, 30).Draw(t, "days")
	} else {
		c.Jobs = rapid.IntRange(1, 2000).Draw(t, "jobs")
	}
	if rapid.Bool().Draw(t, "with a load") {
		c.Load = rapid.Float64Range(0.05, 2).Draw(t, "load")
	}
	if k := Estimate(rapid.IntRange(0, 2).Draw(t, "estimates")); k != Exact {
		c.Estimates = Estimates{Kind: k, Factor: rapid.Float64Range(1, 50).Draw(t, "factor")}
	}
	return c
}

func TestGeneratedWorkloadMatchesItsConfigAndReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := wanted(t)
		trace, err := Generate(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := swf.Write(&text, trace); err != nil {
			t.Fatal(err)
		}
		back, err := swf.Read(strings.NewReader(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Jobs) != len(trace.Jobs) || back.Reordered != 0 || back.Normalized != 0 ||
			!cmp.Equal(back.Header, trace.Header) {
			t.Fatalf("read back: %d jobs of %d, %d reordered, %d normalized", len(back.Jobs), len(trace.Jobs),
				back.Reordered, back.Normalized)
		}
		if n, ok := back.Header.Int("MaxJobs"); !ok || int(n) != len(back.Jobs) {
			t.Errorf("MaxJobs %d of %d", n, len(back.Jobs))
		}
		if procs, ok := back.Header.Procs(); !ok || procs != c.Procs {
			t.Errorf("MaxProcs %d, want %d", procs, c.Procs)
		}
		if start, ok := back.Header.UnixStartTime(); !ok || start != 0 {
			t.Errorf("UnixStartTime %d, %v", start, ok)
		}
		if c.Jobs > 0 && len(back.Jobs) != c.Jobs {
			t.Errorf("%d jobs, want %d", len(back.Jobs), c.Jobs)
		}
		last := int64(0)
		if n := len(back.Jobs); n > 0 {
			last = back.Jobs[n-1].Submit
		}
		if c.Days > 0 && last > int64(c.Days)*secondsADay && len(back.Jobs) > 1 {
			t.Errorf("the last job is submitted at %d, after %d days", last, c.Days)
		}
		// Whole seconds leave some room in workloads that are very short.
		if got := OfferedLoad(back.Jobs, c.Procs); c.Load > 0 && math.Abs(got/c.Load-1) > 1e-6+1.5/float64(last) {
			t.Errorf("load %g, want %g", got, c.Load)
		}
		for i := range back.Jobs {
			j := &back.Jobs[i]
			if j.ID != int64(i+1) || j.Run < 1 || j.ReqTime < j.Run || j.UsedProcs != j.ReqProcs ||
				int(j.ReqProcs) > c.Procs {
				t.Fatalf("job %+v", j)
			}
			if c.Users == 0 && j.User != swf.Unknown || c.Users > 0 && (j.User < 1 || int(j.User) > c.Users) {
				t.Fatalf("user %d of %d", j.User, c.Users)
			}
		}
	})
}

func TestLoadIsWithinTwoPercentOfTheConfig(t *testing.T) {
	for _, load := range []float64{0.1, 0.5, 0.7, 0.9, 1, 1.5} {
		for _, classes := range []Classes{Undivided, Divided, Batch} {
			for _, c := range []Config{{Jobs: 500}, {Jobs: 20_000}, {Days: 7}, {Days: 100}} {
				c.Procs, c.Load, c.Classes, c.Seed = 128, load, classes, 11
				trace := generate(t, c)
				if got := OfferedLoad(trace.Jobs, c.Procs); math.Abs(got/load-1) > 0.02 {
					t.Errorf("%+v: %g", c, got)
				}
				if days := float64(trace.Jobs[len(trace.Jobs)-1].Submit) / secondsADay; c.Days > 0 &&
					(days > float64(c.Days) || load >= 0.5 && days < 0.8*float64(c.Days)) {
					t.Errorf("%+v: %.1f days", c, days)
				}
			}
		}
	}
}

func TestLengthLoadEstimatesAndUsersDoNotChangeWhichJobsAreDrawn(t *testing.T) {
	type drawn struct {
		run   int64
		width int32
	}
	of := func(c Config) []drawn {
		c.Procs, c.Seed = 128, 9
		var all []drawn
		for _, j := range generate(t, c).Jobs {
			all = append(all, drawn{j.Run, j.ReqProcs})
		}
		return all
	}
	long := of(Config{Jobs: 5000})
	for name, c := range map[string]Config{
		"shorter": {Jobs: 100}, "by days": {Days: 20}, "load": {Jobs: 100, Load: 0.3},
		"days and load": {Days: 20, Load: 0.8},
		"estimates":     {Jobs: 100, Estimates: Estimates{Kind: Uniform, Factor: 5}}, "users": {Jobs: 100, Users: 20},
	} {
		if got := of(c); len(got) == 0 || !cmp.Equal(got, long[:len(got)], cmp.AllowUnexported(drawn{})) {
			t.Errorf("%s: other jobs", name)
		}
	}
}

func TestSeedsGiveDifferentWorkloads(t *testing.T) {
	a, b := generate(t, Config{Jobs: 50, Procs: 128, Seed: 1}), generate(t, Config{Jobs: 50, Procs: 128, Seed: 2})
	if cmp.Equal(a.Jobs, b.Jobs) {
		t.Error("the same jobs")
	}
}

func TestUsersAreDrawnUniformly(t *testing.T) {
	got, want := make([]float64, 10), make([]float64, 10)
	for _, j := range generate(t, Config{Jobs: 100_000, Procs: 64, Users: 10}).Jobs {
		got[j.User-1]++
	}
	for i := range want {
		want[i] = 10_000
	}
	wantFrequencies(t, got, want)
}

func TestDividedJobsCarryTheirQueue(t *testing.T) {
	counts := map[int32]int{}
	for _, j := range generate(t, Config{Days: 200, Procs: 128, Classes: Divided}).Jobs {
		counts[j.Queue]++
		if j.Queue == interactiveJobs.queue && j.ReqProcs > 45 {
			t.Errorf("an interactive job of %d processors", j.ReqProcs)
		}
	}
	// Of the model's gaps: interactive jobs come 4.6 times as often.
	if ratio := float64(counts[0]) / float64(counts[1]); len(counts) != 2 || ratio < 4 || ratio > 6.5 {
		t.Errorf("jobs by queue: %v", counts)
	}
}

func TestAWrongConfigNamesEachField(t *testing.T) {
	good := Config{Jobs: 10, Procs: 4}
	for want, change := range map[string]func(*Config){
		"jobs: 0, and days: 0, accepted: one of the two":  func(c *Config) { c.Jobs = 0 },
		"jobs: 10, and days: 3, accepted: one of the two": func(c *Config) { c.Days = 3 },
		"jobs: -1, accepted: 1..10000000":                 func(c *Config) { c.Jobs = -1 },
		"jobs: 10000001, accepted: 1..10000000": func(c *Config) {
			c.Jobs = MaxJobs + 1
		},
		"days: 100001, accepted: 1..100000": func(c *Config) {
			c.Jobs, c.Days = 0, MaxDays+1
		},
		"procs: 0, accepted: 1..67108864": func(c *Config) { c.Procs = 0 },
		"procs: 67108865, accepted: 1..67108864": func(c *Config) {
			c.Procs = MaxProcs + 1
		},
		"load: 0.001, accepted: 0.01..100": func(c *Config) {
			c.Load = 0.001
		},
		"load: -1, accepted: 0.01..100": func(c *Config) { c.Load = -1 },
		"load: 101, accepted: 0.01..100": func(c *Config) {
			c.Load = 101
		},
		"load: NaN, accepted: 0.01..100": func(c *Config) {
			c.Load = math.NaN()
		},
		"classes: Classes(9), accepted: undivided, divided, batch, interactive": func(c *Config) {
			c.Classes = 9
		},
		"estimates: factor:0.5, accepted: exact, factor:F, uniform:F, with F 1..1000": func(c *Config) {
			c.Estimates = Estimates{Factor, 0.5}
		},
		"estimates: uniform:NaN, accepted: exact, factor:F, uniform:F, with F 1..1000": func(c *Config) {
			c.Estimates = Estimates{Uniform, math.NaN()}
		},
		"estimates: Estimate(7), accepted: exact, factor:F, uniform:F, with F 1..1000": func(c *Config) {
			c.Estimates = Estimates{7, 2}
		},
		"users: -1, accepted: 0..1000000": func(c *Config) { c.Users = -1 },
		"procs: 0, accepted: 1..67108864\nusers: -1, accepted: 0..1000000": func(c *Config) {
			c.Procs, c.Users = 0, -1
		},
		"jobs: 100000, accepted: fewer: the last one would come after 10000000000 s, the most a workload can have; " +
			"or a higher load than 0.01": func(c *Config) {
			c.Jobs, c.Load, c.Procs = 100_000, 0.01, 1
		},
	} {
		c := good
		change(&c)
		_, err := Generate(t.Context(), c)
		if _, ok := errors.AsType[*FieldError](err); !ok || err.Error() != want {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}

func TestGenerateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Generate(ctx, Config{Jobs: MaxJobs, Procs: 4}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, classes := range []Classes{Undivided, Divided} {
		b.Run(classes.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				generate(b, Config{Jobs: 1_000_000, Procs: 256, Load: 0.9, Classes: classes})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/job")
		})
	}
}

package primes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// report runs a count to its end and returns its report.
func report(t testing.TB, cfg Config) string {
	t.Helper()
	var out bytes.Buffer
	if err := Run(context.Background(), cfg, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCountsMatchKnownValues(t *testing.T) {
	for below, want := range map[int]string{
		2:          "primes      0 below 2\nsum         0\nlargest     0\n",
		3:          "primes      1 below 3\nsum         2\nlargest     2\n",
		10:         "primes      4 below 10\nsum         17\nlargest     7\n",
		1_000:      "primes      168 below 1000\nsum         76127\nlargest     997\n",
		10_000_000: "primes      664579 below 10000000\nsum         3203324994356\nlargest     9999991\n",
	} {
		if got := report(t, Config{Below: below}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// slow counts primes by trial division.
func slow(below int) state {
	t := state{Version: version, Below: below, Next: below}
	for n := 2; n < below; n++ {
		prime := true
		for d := 2; d*d <= n && prime; d++ {
			prime = n%d != 0
		}
		if prime {
			t.add(n)
		}
	}
	return t
}

func TestSegmentsMatchTrialDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		below := rapid.IntRange(2, 3000).Draw(t, "below")
		got := state{Version: version, Below: below}
		newSieve(below).take(&got)
		if got != slow(below) {
			t.Fatalf("%+v, want %+v", got, slow(below))
		}
	})
}

// after is a context that ends after a number of checks.
type after struct {
	context.Context
	left int
}

func (a *after) Err() error {
	if a.left--; a.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTheResultDoesNotDependOnStops(t *testing.T) {
	const below = 9*segment + 12345
	want := report(t, Config{Below: below})
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		var out bytes.Buffer
		for {
			out.Reset()
			ctx := &after{context.Background(), rapid.IntRange(0, 6).Draw(rt, "segments")}
			err := Run(ctx, Config{Below: below, Checkpoint: dir}, &out)
			if err == nil {
				break
			}
			if !errors.Is(err, ErrStopped) {
				rt.Fatal(err)
			}
		}
		if got := out.String(); !strings.HasSuffix(got, want) {
			rt.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestACancelledRunWithoutADirectoryFails(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Run(ctx, Config{Below: 10}, nil)
	if errors.Is(err, ErrStopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := Run(ctx, Config{Below: 10, Checkpoint: t.TempDir() + "/missing"}, nil); errors.Is(err, ErrStopped) ||
		err == nil {
		t.Errorf("%v", err)
	}
}

func TestRunRefusesBoundsOutOfRange(t *testing.T) {
	for _, below := range []int{-1, 1, MostBelow + 1} {
		var bad *services.ArgumentError
		if err := Run(context.Background(), Config{Below: below}, nil); !errors.As(err, &bad) ||
			bad.Argument != "below" {
			t.Errorf("%d: %v", below, err)
		}
	}
}

// parse accepts only states from which a count can resume.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"version":1,"below":1000,"next":0,"count":0,"sum":0,"largest":0}`))
	f.Add([]byte(`{"version":1,"below":1000,"next":1000,"count":168,"sum":76127,"largest":997}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(stateFile(dir), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := parse(text, 1000); err != nil {
			return
		}
		report(t, Config{Below: 1000, Checkpoint: dir})
	})
}

package journal

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

const (
	claimLine  = `{"v":1,"claim":"supervisor","by":"s1","at":"2026-01-02T03:04:05Z"}` + "\n"
	serverLine = `{"v":1,"claim":"server","at":"2026-01-02T03:04:05Z"}` + "\n"
	runLine    = `{"pid":7,"start":9,"boot":"b","at":"2026-01-02T03:04:06Z"}` + "\n"
	exitLine   = `{"exit":0,"at":"2026-01-02T03:04:07Z"}` + "\n"
)

func second(n int) time.Time { return time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC) }

func TestParseIgnoresAnIncompleteLastLine(t *testing.T) {
	claimed := State{Claimer: Claimer{Supervisor, "s1"}, Claimed: second(5)}
	run := claimed
	run.Run, run.Started = process.ID{Pid: 7, Start: 9, Boot: "b"}, second(6)
	with := func(s State, e End) State {
		e.At = second(7)
		s.End = e
		return s
	}
	for name, c := range map[string]struct {
		text string
		want State
	}{
		"claim":                    {claimLine, claimed},
		"torn run":                 {claimLine + `{"pid":7,"start":9`, claimed},
		"complete without newline": {claimLine + strings.TrimSpace(runLine), claimed},
		"zeros":                    {claimLine + "\x00\x00\x00", claimed},
		"server":                   {serverLine, State{Claimer: Claimer{Kind: Server}, Claimed: second(5)}},
		"run":                      {claimLine + runLine, run},
		"exit":                     {claimLine + runLine + exitLine, with(run, End{Kind: Exited})},
		"torn exit":                {claimLine + runLine + exitLine[:5], run},
		"code": {
			claimLine + runLine + `{"exit":3,"at":"2026-01-02T03:04:07Z"}` + "\n",
			with(run, End{Kind: Exited, Code: 3}),
		},
		"signal": {
			claimLine + runLine + `{"signal":"SIGKILL","at":"2026-01-02T03:04:07Z"}` + "\n",
			with(run, End{Kind: Signaled, Signal: "SIGKILL"}),
		},
		"failed": {
			claimLine + runLine + `{"failed":"x","at":"2026-01-02T03:04:07Z"}` + "\n",
			with(run, End{Kind: Failed, Reason: "x"}),
		},
		"failed at once": {
			claimLine + `{"failed":"x","at":"2026-01-02T03:04:07Z"}` + "\n",
			with(claimed, End{Kind: Failed, Reason: "x"}),
		},
		"never": {
			claimLine + `{"never":"x","at":"2026-01-02T03:04:07Z"}` + "\n",
			with(claimed, End{Kind: Never, Reason: "x"}),
		},
		"lost": {
			claimLine + runLine + `{"lost":"x","at":"2026-01-02T03:04:07Z"}` + "\n",
			with(run, End{Kind: Lost, Reason: "x"}),
		},
		"torn after exit": {claimLine + runLine + exitLine + `{"ex`, with(run, End{Kind: Exited})},
	} {
		t.Run(name, func(t *testing.T) {
			got, whole, err := parse("f", []byte(c.text))
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if want := strings.LastIndexByte(c.text, '\n') + 1; whole != want {
				t.Errorf("%d bytes are whole, want %d", whole, want)
			}
		})
	}
}

func TestParseNamesTheDamagedLine(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"empty":             {"", 1},
		"torn claim":        {claimLine[:20], 1},
		"invalid JSON":      {"x\n", 1},
		"no claim":          {exitLine, 1},
		"newer":             {strings.Replace(claimLine, `"v":1`, `"v":2`, 1), 1},
		"stranger":          {strings.Replace(claimLine, "supervisor", "agent", 1), 1},
		"unknown field":     {claimLine + `{"exot":0}` + "\n", 2},
		"two values":        {claimLine + strings.TrimSpace(runLine) + exitLine, 2},
		"empty line":        {claimLine + "\n", 2},
		"nothing":           {claimLine + "{}\n", 2},
		"two claims":        {claimLine + claimLine, 2},
		"two processes":     {claimLine + runLine + runLine, 3},
		"negative":          {claimLine + strings.Replace(runLine, "7", "-7", 1), 2},
		"exit without run":  {claimLine + exitLine, 2},
		"lost without run":  {claimLine + `{"lost":"x"}` + "\n", 2},
		"two ends":          {claimLine + runLine + exitLine + exitLine, 4},
		"two ends in one":   {claimLine + runLine + `{"exit":0,"signal":"SIGKILL"}` + "\n", 3},
		"run of the server": {serverLine + runLine, 2},
		"zeros in between":  {claimLine + "\x00\x00" + runLine, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := parse("dir/1-2", []byte(c.text))
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Line != c.line || damaged.File != "dir/1-2" {
				t.Errorf("%v, want line %d of dir/1-2", err, c.line)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		claimLine, serverLine, claimLine + runLine + exitLine, claimLine + runLine[:9],
		claimLine + `{"failed":"é"}` + "\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, whole, err := parse("f", text)
		if err != nil {
			return
		}
		again := (&line{V: version, Claim: s.Claimer.Kind, By: s.Claimer.By, At: s.Claimed}).encode()
		if s.Run.Pid != 0 {
			again = append(again,
				(&line{Pid: s.Run.Pid, Start: s.Run.Start, Boot: s.Run.Boot, At: s.Started}).encode()...)
		}
		if s.End.Kind != 0 {
			again = append(again, lineOf(s.End).encode()...)
		}
		got, _, err := parse("f", again)
		instants := cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Microsecond })
		if diff := cmp.Diff(s, got, instants); diff != "" || err != nil {
			t.Errorf("%q written again as %q: %s %v", text[:whole], again, diff, err)
		}
	})
}

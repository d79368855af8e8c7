package gridrpc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// One grid for what does not disturb the others: its start is what takes time.
func TestGridRPC(t *testing.T) {
	g := liveGrid(t)
	for name, test := range map[string]func(*testing.T, *Grid){
		"arguments of every type reach the service and come back":      everyType,
		"an argument stack is a list of arguments":                     stack,
		"what does not fit the declaration is refused here":            misfits,
		"a bound handle calls one site only":                           bound,
		"what is not there has its code":                               notThere,
		"a failure is returned by the wait, and once by FailedSession": failures,
		"a session that has ended can be waited for again":             twice,
		"a wait that is given up leaves the job running":               givenUp,
		"each session is returned once by WaitAny":                     anyOnce,
		"WaitOr and ProbeOr return the one that has ended":             theOne,
		"a cancelled session has failed":                               cancelled,
		"sessions of another grid are none of this one":                foreign,
		"a handle that was destructed or never made cannot be called":  badHandles,
	} {
		t.Run(name, func(t *testing.T) { test(t, g) })
	}
}

func everyType(t *testing.T, g *Grid) {
	h := handleOf(t, g, "mix")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	var report []byte
	if err := h.Call(t.Context(), uint8(7), 2.5, "a; b|", true, in, nil, &report, out, client.Width(1)); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(out)
	if string(report) != "7|2.5|a; b||true|none" || string(copied) != "content" {
		t.Errorf("report %q, copy %q (%v)", report, copied, err)
	}
	var copy2 bytes.Buffer
	type myInt int
	if err := h.Call(t.Context(), myInt(-1), 3, "", false, []byte("again"), "x", nil, &copy2); err != nil ||
		copy2.String() != "again" {
		t.Errorf("%q, %v", &copy2, err)
	}
	if err := h.Call(t.Context(), client.Int("count", 1), client.Float("ratio", 1), client.String("word", "w"),
		client.Bool("flag", true), client.Content("input", nil),
		client.OutputTo("report", out)); err != nil {
		t.Errorf("arguments by name: %v", err)
	}
	if got, err := os.ReadFile(out); string(got) != "1|1|w|true|none" {
		t.Errorf("%q (%v)", got, err)
	}
}

func stack(t *testing.T, g *Grid) {
	h := handleOf(t, g, "fail")
	s, err := NewArgStack(1)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "push 0", s.Push(0), NoError)
	wantCode(t, "a full stack", s.Push(1), RPCRefused)
	wantCode(t, "call", h.CallStack(t.Context(), s), NoError)
	if v, ok := s.Pop(); v != 0 || !ok || s.Len() != 0 {
		t.Errorf("popped %v, %v", v, ok)
	}
	if v, ok := s.Pop(); v != nil || ok {
		t.Errorf("popped %v of an empty stack", v)
	}
	wantCode(t, "push 5", s.Push(5), NoError)
	running, err := h.CallStackAsync(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "exit code 5", running.Wait(t.Context()), SessionFailed)
	if running.Job().Outcome.ExitCode != 5 {
		t.Errorf("%+v", running.Job().Outcome)
	}
	var zero ArgStack
	wantCode(t, "the zero stack", errors.Join(zero.Push(0), h.CallStack(t.Context(), &zero)), NoError)
	wantCode(t, "no stack", h.CallStack(t.Context(), nil), SessionFailed)
	_, err = NewArgStack(0)
	wantCode(t, "a stack of nothing", err, RPCRefused)
}

func misfits(t *testing.T, g *Grid) {
	h := handleOf(t, g, "mix")
	good := []any{1, 1.0, "w", true, []byte("x"), "note", nil, nil}
	for at, bad := range [][]any{
		{"1", 1.5, true, uint64(1) << 63, []byte("1")}, // int
		{"1", true},                            // float
		{1, []byte("w"), 'w', 1.5},             // string
		{"true", 1},                            // bool
		{1, 1.5, true, &good},                  // file
		{1, 1.5, true},                         // string
		{1, []byte("x"), (*[]byte)(nil), true}, // file-out
	} {
		for _, v := range bad {
			args := append([]any(nil), good...)
			args[at] = v
			e := codeError(t, h.Service().Arguments[at].Name, h.Call(t.Context(), args...), RPCRefused)
			if refused, ok := errors.AsType[*problem.Problem](e); !ok ||
				!strings.HasSuffix(refused.Field, h.Service().Arguments[at].Name) || refused.Accepted == "" {
				t.Errorf("%T for %s: %#v", v, h.Service().Arguments[at].Name, refused)
			}
		}
	}
	wantCode(t, "too many", h.Call(t.Context(), append(good, nil)...), RPCRefused)
	few := codeError(t, "too few", h.Call(t.Context(), good[:4]...), RPCRefused)
	if missing, ok := errors.AsType[*problem.Problem](few); !ok || missing.Reason != problem.MissingArgument ||
		missing.Message != "service mix: argument 5, input, is missing" {
		t.Errorf("%#v", missing)
	}
	wantCode(t, "none for a required one", h.Call(t.Context(), nil, 1.0, "w", true, []byte("x")), RPCRefused)
	wantCode(t, "twice, once by name", h.Call(t.Context(), append(good, client.Int("count", 2))...), RPCRefused)
	// What the description does not say is for the site to refuse.
	wantCode(t, "out of range", handleOf(t, g, "fail").Call(t.Context(), 100), RPCRefused)
	wantCode(t, "too wide", handleOf(t, g, "nap").Call(t.Context(), client.Width(1000)), RPCRefused)
	e := codeError(t, "no such file", h.Call(t.Context(), 1, 1.0, "w", true, filepath.Join(t.TempDir(), "none")),
		OtherErrorCode)
	if !errors.Is(e, os.ErrNotExist) {
		t.Error(e)
	}
}

func bound(t *testing.T, g *Grid) {
	ctx := t.Context()
	if s := async(t, handleOf(t, g, "nap")); s.Job().Site != "lyon" || s.Job().Decision == nil {
		t.Fatalf("the faster site is %s", s.Job().Site)
	}
	h, err := g.HandleAt(ctx, "nancy", "nap")
	if err != nil || h.Site() != "nancy" {
		t.Fatal(h, err)
	}
	for range 6 { // more than fit at once
		s := async(t, h, 0.01)
		if s.Job().Site != "nancy" || s.Job().Decision != nil {
			t.Errorf("at %s, decision %+v", s.Job().Site, s.Job().Decision)
		}
		if of, err := g.HandleOf(s); of != h || err != nil {
			t.Errorf("called by %p, not %p (%v)", of, h, err)
		}
	}
	wantCode(t, "all of them", g.WaitAll(ctx), NoError)
	e := codeError(t, "wider than the site", h.Call(ctx, client.Width(8)), RPCRefused)
	if refused, ok := errors.AsType[*problem.Problem](e); !ok ||
		refused.Reason != "too-wide" && refused.Reason != "out-of-range" {
		t.Errorf("%#v", refused)
	}
	_, err = g.HandleAt(ctx, "paris", "nap")
	wantCode(t, "an unknown site", err, ServerNotFound)
	_, err = g.HandleAt(ctx, "lyon", "rare")
	wantCode(t, "a service of another site", err, FunctionNotFound)
	rare, err := g.HandleAt(ctx, "nancy", "rare")
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a service of this site", rare.Call(ctx), NoError)
}

func notThere(t *testing.T, g *Grid) {
	_, err := g.Handle(t.Context(), "none")
	wantCode(t, "a service", err, FunctionNotFound)
	_, err = g.Handle(t.Context(), "")
	if CodeOf(err) == NoError {
		t.Error("a handle of no service")
	}
	_, err = g.Session("01a1fddd-b7ba-7e51-8bf0-783efd4419a7")
	wantCode(t, "a session", err, InvalidSessionID)
	_, err = g.Session("x")
	wantCode(t, "what is no ID", err, InvalidSessionID)
	wantCode(t, "a nil session", g.WaitAnd(t.Context(), nil), InvalidSessionID)
	wantCode(t, "a zero session", new(Session).Wait(t.Context()), InvalidSessionID)
	wantCode(t, "probe of none", (*Session)(nil).Probe(t.Context()), InvalidSessionID)
	wantCode(t, "cancel of none", (*Session)(nil).Cancel(t.Context()), InvalidSessionID)
	_, err = g.HandleOf(nil)
	wantCode(t, "handle of none", err, InvalidSessionID)
	_, err = g.ProbeOr(t.Context(), nil)
	wantCode(t, "probe of a list with none", err, InvalidSessionID)
	_, err = g.WaitOr(t.Context(), nil)
	wantCode(t, "wait for a list with none", err, InvalidSessionID)
}

func failures(t *testing.T, g *Grid) {
	ctx := t.Context()
	h := handleOf(t, g, "fail")
	e := codeError(t, "a call", h.Call(ctx, 4), SessionFailed)
	if end, ok := errors.AsType[*client.EndError](e); !ok || end.Job.Outcome.ExitCode != 4 ||
		e.Session.Job().ID != end.Job.ID {
		t.Errorf("%v", e)
	}
	drain := func() (list []SessionID) {
		for {
			s, err := g.FailedSession()
			if err != nil {
				t.Fatal(err)
			}
			if s == nil {
				return list
			}
			list = append(list, s.ID())
		}
	}
	drain()
	good, bad, worse := async(t, h, 0), async(t, h, 1), async(t, h, 2)
	wantCode(t, "before the wait", bad.Err(), NotCompleted)
	wantCode(t, "wait for all three", g.WaitAnd(ctx, good, bad, worse, bad), SessionFailed)
	for s, want := range map[*Session]Code{good: NoError, bad: SessionFailed, worse: SessionFailed} {
		wantCode(t, "after the wait", s.Err(), want)
	}
	if got := drain(); len(got) != 2 || got[0] != bad.ID() || got[1] != worse.ID() {
		t.Errorf("failed %v, want %s and %s", got, bad.ID(), worse.ID())
	}
	if found, err := g.Session(bad.ID()); found != bad || err != nil {
		t.Errorf("by its ID: %p, %v", found, err)
	}
}

func twice(t *testing.T, g *Grid) {
	s := async(t, handleOf(t, g, "fail"))
	for range 3 {
		wantCode(t, "wait", s.Wait(t.Context()), SessionFailed)
	}
	wantCode(t, "probe", s.Probe(t.Context()), NoError)
	over, end := context.WithCancel(t.Context())
	end()
	wantCode(t, "wait without time", s.Wait(over), SessionFailed)
}

func givenUp(t *testing.T, g *Grid) {
	h := handleOf(t, g, "nap")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	e := codeError(t, "call", h.Call(ctx, 30.0), NotCompleted)
	if e.Session == nil || !errors.Is(e, context.DeadlineExceeded) || !errors.Is(e, NotCompleted) ||
		errors.Is(e, NoneCompleted) {
		t.Fatalf("%v", e)
	}
	wantCode(t, "probe", e.Session.Probe(t.Context()), NotCompleted)
	wantCode(t, "cancel", g.CancelAll(t.Context()), NoError)
	wantCode(t, "wait", e.Session.Wait(t.Context()), SessionFailed)
}

func anyOnce(t *testing.T, g *Grid) {
	h := handleOf(t, g, "nap")
	left := make(map[*Session]bool)
	for i := range 4 {
		left[async(t, h, float64(4-i)/10)] = true
	}
	for len(left) > 0 {
		s, err := g.WaitAny(t.Context())
		if err != nil || !left[s] {
			t.Fatalf("%v, %v, of %d left", s, err, len(left))
		}
		delete(left, s)
	}
	s, err := g.WaitAny(t.Context())
	wantCode(t, "nothing left", err, NoneCompleted)
	if s != nil {
		t.Error(s)
	}
	wantCode(t, "wait for all of nothing", g.WaitAll(t.Context()), NoError)
}

func theOne(t *testing.T, g *Grid) {
	ctx := t.Context()
	h := handleOf(t, g, "nap")
	long, short := async(t, h, 30.0), async(t, h, 0.5)
	_, err := g.ProbeOr(ctx, long, short)
	wantCode(t, "probe", err, NoneCompleted)
	_, err = g.ProbeOr(ctx)
	wantCode(t, "probe of nothing", err, NoneCompleted)
	_, err = g.WaitOr(ctx)
	wantCode(t, "wait for one of nothing", err, NoneCompleted)
	if s, err := g.WaitOr(ctx, long, short); s != short || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := g.ProbeOr(ctx, long, short); s != short || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	wantCode(t, "cancel", long.Cancel(ctx), NoError)
	if s, err := g.WaitAny(ctx); s != long || CodeOf(err) != SessionFailed {
		t.Errorf("%v, %v", s, err)
	}
}

func cancelled(t *testing.T, g *Grid) {
	ctx := t.Context()
	s := async(t, handleOf(t, g, "nap"), 30.0)
	waiting := make(chan error)
	go func() { waiting <- s.Wait(ctx) }()
	wantCode(t, "cancel", s.Cancel(ctx), NoError)
	e := codeError(t, "wait", <-waiting, SessionFailed)
	if end, ok := errors.AsType[*client.EndError](e); !ok || end.Job.State != client.Cancelled {
		t.Errorf("%v", e)
	}
	wantCode(t, "cancel of what has ended", s.Cancel(ctx), NoError)
}

func foreign(t *testing.T, g *Grid) {
	ctx := t.Context()
	other := NewGrid(g.Client())
	s := async(t, handleOf(t, g, "nap"))
	wantCode(t, "wait", other.WaitAnd(ctx, s), InvalidSessionID)
	_, err := other.WaitOr(ctx, s)
	wantCode(t, "wait for one", err, InvalidSessionID)
	_, err = other.ProbeOr(ctx, s)
	wantCode(t, "probe", err, InvalidSessionID)
	_, err = other.HandleOf(s)
	wantCode(t, "handle", err, InvalidSessionID)
	_, err = other.Session(s.ID())
	wantCode(t, "by ID", err, InvalidSessionID)
	wantCode(t, "its own wait", s.Wait(ctx), NoError)
	wantCode(t, "finalize", other.Finalize(), NoError)
	_, err = g.Client().Sites(ctx) // was not other's to close
	wantCode(t, "the client of both", err, NoError)
}

func badHandles(t *testing.T, g *Grid) {
	ctx := t.Context()
	h := handleOf(t, g, "nap")
	s := async(t, h)
	wantCode(t, "destruct", h.Destruct(), NoError)
	wantCode(t, "destruct again", h.Destruct(), InvalidFunctionHandle)
	wantCode(t, "call", h.Call(ctx), InvalidFunctionHandle)
	_, err := new(Handle).CallAsync(ctx)
	wantCode(t, "the zero handle", err, InvalidFunctionHandle)
	wantCode(t, "no handle", (*Handle)(nil).Call(ctx), InvalidFunctionHandle)
	wantCode(t, "destruct none", (*Handle)(nil).Destruct(), InvalidFunctionHandle)
	wantCode(t, "its session", s.Wait(ctx), NoError)
}

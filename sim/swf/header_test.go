package swf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func header(comments ...string) *Header { return &Header{Comments: comments} }

func TestHeaderEntriesJoinIndentedLines(t *testing.T) {
	h := header(
		" Computer: IBM SP2",
		" Copyright: Agreement:",
		"   This goes on: like this",
		"",
		"\t\tand this",
		"NoBlank:1",
		"",
		" a remark: not a label",
		" http://example.org/",
		" Queue:  1 DSI",
		" Queue:  2 astro",
		" : nothing",
	)
	want := []Entry{
		{"Computer", "IBM SP2"},
		{"Copyright", "Agreement:\nThis goes on: like this\nand this"},
		{"NoBlank", "1"},
		{"Queue", "1 DSI"},
		{"Queue", "2 astro"},
	}
	if diff := cmp.Diff(want, h.Entries()); diff != "" {
		t.Errorf("entries differ (-want +got):\n%s", diff)
	}
	if v, ok := h.Get("queue"); v != "1 DSI" || !ok {
		t.Errorf("first queue: %q, %v", v, ok)
	}
	if v, ok := h.Get("absent"); v != "" || ok {
		t.Errorf("absent: %q, %v", v, ok)
	}
}

func TestHeaderProcsCopesWithMissingAndOddValues(t *testing.T) {
	for _, c := range []struct {
		h     *Header
		procs int
	}{
		{header(), 0},
		{header(" MaxProcs: 338 (batch partition; 512 total)", " MaxNodes: 12"), 338},
		{header(" MaxNodes: 256"), 256},
		{header(" MaxProcs: -1", " MaxNodes: 256"), 256},
		{header(" MaxProcs: unknown", " maxprocs: 7"), 7},
		{header(" MaxProcs: 0"), 0},
		{header(" MaxProcs: 99999999999999999999999"), 0},
		{header(" MaxProcs: 18446744073709551617"), 0}, // 2^64 + 1
		{header(" MaxProcs: 1000000001"), 0},
	} {
		procs, ok := c.h.Procs()
		if procs != c.procs || ok != (c.procs > 0) {
			t.Errorf("%q: %d, %v, want %d", c.h.Comments, procs, ok, c.procs)
		}
	}
	if n, ok := header(" MaxNodes: 12", " MaxProcs: 24").Nodes(); n != 12 || !ok {
		t.Errorf("nodes: %d, %v, want 12", n, ok)
	}
	if n, ok := header(" MaxProcs: 24", " MaxNodes: -1").Nodes(); n != 0 || ok {
		t.Errorf("nodes: %d, %v, want none", n, ok)
	}
}

func TestHeaderUnixStartTimeMayBeZeroButNotNegative(t *testing.T) {
	for text, want := range map[string]int64{
		" UnixStartTime: 0": 0, " UnixStartTime: 843480031": 843480031, " UnixStartTime: -1": -1, "": -1,
	} {
		got, ok := header(text).UnixStartTime()
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, ok, want)
		}
	}
}

func TestHeaderJobsHintBelievesTheSmallerCountUpToABound(t *testing.T) {
	for _, c := range []struct {
		h    *Header
		want int
	}{
		{header(), 0},
		{header(" MaxJobs: 527371", " MaxRecords: 202871"), 202871},
		{header(" MaxJobs: 10"), 10},
		{header(" MaxJobs: 100000000000"), maxHint},
		{header(" MaxJobs: -3"), 0},
	} {
		if got := c.h.jobsHint(); got != c.want {
			t.Errorf("%q: %d, want %d", c.h.Comments, got, c.want)
		}
	}
	// A hint is no promise.
	if got := mustRead(t, "; MaxJobs: 1\n"+okLine+"\n"+okLine); len(got.Jobs) != 2 {
		t.Errorf("%d jobs, want 2", len(got.Jobs))
	}
}

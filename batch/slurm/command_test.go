package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/external"
)

// program makes a script in place of a Slurm program and returns its directory.
func program(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRunPassesInputOfAnySize(t *testing.T) {
	c := New(Config{Dir: program(t, "any", "cat; echo notes >&2")})
	for _, n := range []int{0, 1, pipeSize, pipeSize + 1, 1 << 20} {
		in := strings.Repeat("x", n)
		if out, err := c.run(t.Context(), []byte(in), "any"); err != nil || out != in {
			t.Errorf("%d bytes: %d came back, %v", n, len(out), err)
		}
	}
}

func TestRunReadsLongOutputAndErrors(t *testing.T) {
	c := New(Config{Dir: program(t, "any", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; exit 3")})
	out, err := c.run(t.Context(), nil, "any")
	if _, refused := errors.AsType[*external.RefusedError](err); !refused || len(out) != 300_000 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestRunReturnsAtItsTimeoutAlthoughAChildHoldsThePipes(t *testing.T) {
	c := New(Config{Dir: program(t, "any", "sleep 20 & wait"), Timeout: 300 * time.Millisecond})
	began := time.Now()
	_, err := c.run(t.Context(), nil, "any")
	if silent, ok := errors.AsType[*external.UnreachableError](err); !ok || !silent.Sent {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestRunFindsAProgramThatMoved(t *testing.T) {
	first, second := program(t, "moves", "echo 1"), program(t, "moves", "echo 2")
	t.Setenv("PATH", first+":"+second+":"+os.Getenv("PATH"))
	c := New(Config{})
	if out, err := c.run(t.Context(), nil, "moves"); err != nil || out != "1\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if err := os.Remove(filepath.Join(first, "moves")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(t.Context(), nil, "moves"); err == nil {
		t.Error("a removed program was run")
	}
	if out, err := c.run(t.Context(), nil, "moves"); err != nil || out != "2\n" {
		t.Errorf("%q, %v", out, err)
	}
}

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestJobsWriteDownWhenTheyRan(t *testing.T) {
	dir := t.TempDir()
	script, notes := filepath.Join(dir, "job.sh"), filepath.Join(dir, "notes")
	if err := os.WriteFile(script, []byte(Script), 0o755); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Second)
	for _, id := range []string{"a", "b", "b"} {
		if out, err := exec.CommandContext(t.Context(), "/bin/sh", script, id, "0.1",
			notes).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	runs := []Run{{Job: Job{ID: "a"}}, {Job: Job{ID: "b"}}, {Job: Job{ID: "c"}}}
	s := Slurm{Notes: notes}
	for range 2 { // reading again counts nothing twice
		missing, err := s.Read(runs)
		if err != nil || missing != 1 {
			t.Fatalf("%d missing: %v", missing, err)
		}
	}
	if runs[0].Times != 1 || runs[1].Times != 2 || runs[2].Times != 0 {
		t.Errorf("%+v", runs)
	}
	if r := runs[0]; r.Begun.Before(before) || r.Ended.Sub(r.Begun) < 90*time.Millisecond ||
		r.Ended.Sub(r.Begun) > time.Minute {
		t.Errorf("from %v to %v", r.Begun, r.Ended)
	}
}

func TestAMissingFileHasNoNotes(t *testing.T) {
	s := Slurm{Notes: filepath.Join(t.TempDir(), "none")}
	if missing, err := s.Read(make([]Run, 3)); missing != 3 || err != nil {
		t.Errorf("%d missing: %v", missing, err)
	}
}

func TestAnUnfinishedLineIsLeftOut(t *testing.T) {
	notes, err := ReadNotes(strings.NewReader("a 1700000000.5 1700000001.25\nb 17000"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("%v, %v", notes, err)
	}
	if got := notes[0].Ended.Sub(notes[0].Begun); got != 750*time.Millisecond {
		t.Errorf("it took %v", got)
	}
}

func TestBadNotesAreRefused(t *testing.T) {
	for _, line := range []string{"a\n", "a 1 2 3\n", "a one 2\n", "a 1 NaN\n", "a 1 1e300\n", "a -1 2\n"} {
		if _, err := ReadNotes(strings.NewReader(line)); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

func FuzzReadNotes(f *testing.F) {
	f.Add("a 1700000000.5 1700000001.25\nb 17000")
	f.Add("a 1 NaN\n")
	f.Fuzz(func(t *testing.T, text string) {
		notes, err := ReadNotes(strings.NewReader(text))
		if err == nil && len(notes) != strings.Count(text, "\n") {
			t.Errorf("%d notes of %q", len(notes), text)
		}
	})
}

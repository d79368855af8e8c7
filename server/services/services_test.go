package services

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckRangeNamesArgumentAndRange(t *testing.T) {
	for _, inside := range []int{1, 5, 10} {
		if err := CheckRange("threads", inside, 1, 10); err != nil {
			t.Errorf("CheckRange(%d) = %v, want nil", inside, err)
		}
	}
	var refused *ArgumentError
	if err := CheckRange("threads", 11, 1, 10); !errors.As(err, &refused) {
		t.Fatalf("CheckRange(11) = %v, want an ArgumentError", err)
	}
	if got, want := refused.Error(), "threads: got 11, accepted: 1 to 10"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if CheckRange("zoom", math.NaN(), 0, 1) == nil {
		t.Error("NaN was accepted")
	}
}

func TestWriteOutputReplacesTheFileOnlyOnSuccess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	write := func(text string, fail error) error {
		return WriteOutput(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fail)
		})
	}

	if err := write("first", nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk on fire")
	if err := write("half", broken); !errors.Is(err, broken) {
		t.Fatalf("got %v, want the writer's own error", err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "first" {
		t.Errorf("file holds %q (%v), want the earlier %q", got, err, "first")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files left in the directory, want 1", len(left))
	}
}

func TestWriteOutputIntoMissingDirectoryFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "out")
	err := WriteOutput(path, func(io.Writer) error { return nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
}

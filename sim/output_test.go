package sim

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestSecondsAreExact(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0", 1: "0.000001", 1_000_000: "1", 1_500_000: "1.5", 83_333_334: "83.333334", 10_010_000: "10.01",
		-1: "-0.000001", -2_000_000: "-2", -2_500_000: "-2.5", 9_007_199_254_740_993: "9007199254.740993",
	} {
		if got := Seconds(batch.Duration(us)); got != want {
			t.Errorf("%d us: %q, want %q", us, got, want)
		}
	}
}

func TestAFileThatCannotBeFinishedIsRemoved(t *testing.T) {
	full := errors.New("disk full")
	path := filepath.Join(t.TempDir(), "jobs.csv")
	err := writeFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("row\n", 10_000))
		return errors.Join(err, full)
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
}

func TestPlacesAreTheLowestFreeProcessors(t *testing.T) {
	p := NewPlaces("easy", 8)
	job := func(h batch.Handle, width int32) *batch.Job {
		return &batch.Job{Handle: h, Shape: batch.Shape{Width: width}}
	}
	got := []string{p.start(job(1, 2), nil), p.start(job(2, 1), nil), p.start(job(3, 2), nil)}
	p.end(job(2, 1))
	got = append(got, p.start(job(2, 3), nil)) // 2 and what is behind 4
	p.end(job(1, 2))
	// as the policy says
	got = append(got, p.start(job(1, 1), []batch.NodeAllocation{{Node: 1, Processors: 1, Share: batch.One}}))
	if d := cmp.Diff([]string{"0-1", "2", "3-4", "2 5-6", "1"}, got); d != "" {
		t.Errorf("places (-want +got):\n%s", d)
	}
}

package swf

import (
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

// realTrace returns a workload's path, or skips saying how to get it.
func realTrace(t testing.TB, name string) string {
	t.Helper()
	path, err := FindTrace(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

func TestReadFileAgreesWithTheOracleOnRealLogs(t *testing.T) {
	for _, c := range []struct {
		name        string
		jobs, procs int
	}{
		{"KTH-SP2-1996-2.swf.gz", 28_489, 100},
		{"CTC-SP2-1996-3.1-cln.swf.gz", 77_222, 338},
		{"SDSC-SP2-1998-4.2-cln.swf.gz", 59_715, 128},
		{"HPC2N-2002-2.2-cln.swf.gz", 202_871, 240},
		{"lublin_256.swf.gz", 10_000, 256},
		{"syn50000.swf.gz", 50_000, 256},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := realTrace(t, c.name)
			got, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Jobs) != c.jobs {
				t.Errorf("%d jobs, want %d", len(got.Jobs), c.jobs)
			}
			if procs, ok := got.Header.Procs(); procs != c.procs || !ok {
				t.Errorf("%d processors, %v, want %d", procs, ok, c.procs)
			}
			want, line, field := oracle(inflate(t, path))
			if want == nil {
				t.Fatalf("the oracle finds a mistake in line %d, field %d", line, field)
			}
			if !cmp.Equal(want.Header, got.Header) || got.Reordered != want.Reordered ||
				got.Normalized != want.Normalized {
				t.Errorf("header or counts differ: %s", cmp.Diff(want.Header, got.Header))
			}
			if len(got.Jobs) != len(want.Jobs) {
				t.Fatalf("%d jobs, want the oracle's %d", len(got.Jobs), len(want.Jobs))
			}
			for i := range want.Jobs { // cmp would take its time
				if got.Jobs[i] != want.Jobs[i] {
					t.Fatalf("job at %d: %+v, want %+v", i, got.Jobs[i], want.Jobs[i])
				}
			}
		})
	}
}

func inflate(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

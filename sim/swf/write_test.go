package swf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestWriteIsOneLineForEachCommentAndJob(t *testing.T) {
	trace := &Trace{Jobs: []Job{okJob}}
	trace.Header.Add("MaxProcs", "8")
	var b bytes.Buffer
	if err := Write(&b, trace); err != nil {
		t.Fatal(err)
	}
	if want := "; MaxProcs: 8\n" + okLine + "\n"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
}

func TestWriteRefusesInvalidTraces(t *testing.T) {
	for i, c := range columns {
		bad := []int64{math.MinInt32, -2}
		if c.required {
			bad = append(bad, Unknown)
		}
		if c.max < math.MaxInt32 && c.max != MaxStatus || c.max > math.MaxInt32 {
			bad = append(bad, int64(c.max)+1) // what fits the type
		}
		for _, n := range bad {
			v := okJob.values()
			v[i] = n
			j := v.job()
			if got := j.values(); got[i] != n {
				continue // the type is too small to hold it
			}
			err := Write(&bytes.Buffer{}, &Trace{Jobs: []Job{j}})
			want := fmt.Sprintf("field %d (%s) %d: out of range; accepted: %s", i+1, c.name, n, c.accepted())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
	many := make([]string, MaxCommentBytes>>15+1)
	for i := range many {
		many[i] = strings.Repeat("x", 1<<15-1)
	}
	for name, comments := range map[string][]string{
		"two lines": {"a\nb"},
		"long line": {strings.Repeat("x", MaxLineBytes)},
		"too many":  many,
	} {
		if err := Write(&bytes.Buffer{}, &Trace{Header: Header{Comments: comments}}); err == nil {
			t.Errorf("comments, %s: written", name)
		}
	}
}

func TestWritePassesOnFailuresOfTheOutput(t *testing.T) {
	broken := errors.New("disk full")
	for _, jobs := range []int{1, 10_000} {
		trace := &Trace{Jobs: make([]Job, jobs)}
		if err := Write(failing{broken}, trace); !errors.Is(err, broken) {
			t.Errorf("%d jobs: error %v, want %v", jobs, err, broken)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

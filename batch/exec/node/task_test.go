package node

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func number(t testing.TB, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAGroupNameIdentifiesItsTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID{
			Key: batch.Key{
				Job:   batch.JobID(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,59}`).Draw(t, "job")),
				Epoch: rapid.Uint32().Draw(t, "epoch"), Attempt: rapid.Uint32().Draw(t, "attempt"),
			},
			Rank: rapid.Int32Min(0).Draw(t, "rank"),
		}
		got, ok := parseGroup(id.group())
		if !ok || got != id || len(id.group()) > 100 {
			t.Fatalf("%v of %q, %v", got, id.group(), ok)
		}
	})
}

func FuzzNamesOfGroups(f *testing.F) {
	for _, name := range []string{"job-1-2-3", "a-b-0-0-0", "job-01-2-3", "1-2-3", "job-1-2-4294967295", "-1-2-3-4"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if id, ok := parseGroup(name); ok && id.group() != name {
			t.Errorf("%q parsed as %v, which has the group %q", name, id, id.group())
		}
	})
}

func TestSchedstatIsParsed(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"560210 645660 4\n": 645660, "5 0 1": 0, "": 0, "7": 0, "1 x 2": 0, "1 -3 2": 0, "1 9223372036854775808 1": 0,
	} {
		if got := parseWaited(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

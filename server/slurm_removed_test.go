package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// The jobs end before anybody has looked, and nothing is left by which they could say
// that they have run: Slurm's word counts.
func TestAJobThatRemovesItsFilesUnderSlurmDoesNotRunTwice(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	book := filepath.Join(t.TempDir(), "ledger")
	s := start(t, slurmSite(t, c, `    - name: wipe
      doc: Removes what is beside its working directory.
      args: [{name: book, type: string}, {name: what, type: string}, {name: code, type: int}]
      command: [/bin/sh, -c, 'echo "$DROVER_JOB_ID" >> "$0"; rm -rf $1; exit $2', "{book}", "{what}", "{code}"]
      model: {fixed: {width: 1, time: 1s}}
on_stop: end`))
	var ids []string
	for _, what := range []string{"../attempts", "../*"} {
		for code, want := range map[int64]droverv1.JobState{0: done, 3: failed} {
			j := s.submit(t, &droverv1.Request{Service: "wipe", Arguments: arguments{"book": text(book), "what": text(what), "code": number(code)}})
			if got := s.until(t, j.GetId(), want); int64(got.GetOutcome().GetExitCode()) != code || got.GetAttempt() != 1 {
				t.Errorf("%s, %d: %v", what, code, got)
			}
			ids = append(ids, j.GetId())
		}
	}
	lines, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if n := strings.Count(string(lines), id); n != 1 {
			t.Errorf("job %s has run %d times", id, n)
		}
	}
}

package solo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

func TestAnAttemptThatIsToldToStopDoesAndSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		end     journal.EndKind
	}{
		"at once":                 {"sleep 100", journal.Lost},
		"with a code of its own":  {"trap 'exit 9' TERM; sleep 100 & wait", journal.Lost},
		"having done what it was": {"trap 'exit 0' TERM; sleep 100 & wait", journal.Exited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := t.TempDir()
			path, order := attempt(t, Order{Args: []string{"sh", "-c", c.program}, Env: []string{"PATH=/usr/bin:/bin"}, Again: filepath.Join(words, "a")})
			if err := Stop(path); err != nil {
				t.Fatal(err)
			}
			Run(path, strings.NewReader(order), t.Output())
			if s := state(t, path); s.End.Kind != c.end {
				t.Errorf("%+v", s.End)
			}
			left, err := os.ReadDir(words)
			if err != nil || len(left) != 1 {
				t.Fatalf("%v, %v", left, err)
			}
			if _, by, _ := strings.Cut(left[0].Name(), "."); !Stopped(by) {
				t.Errorf("word of it is %s", left[0].Name())
			}
		})
	}
}

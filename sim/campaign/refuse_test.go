package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFolderOfAnotherCampaignIsRefused(t *testing.T) {
	c, o := parsed(t, small), options(t.TempDir(), &fake{})
	want := mustRun(t, c, o)
	same := parsed(t, "# a comment\n"+strings.Replace(small, "1..2", "[1, 2]", 1)+"periods: [60m]\n")
	if got := mustRun(t, same, o); got != want {
		t.Errorf("the same campaign, written otherwise:\n%s", cmp.Diff(want, got))
	}
	other := func(old, new string) *Campaign { return parsed(t, strings.Replace(small, old, new, 1)) }
	changed := parsed(t, small)
	changed.Scenarios[1].Text = []byte("another text")
	quick, _ := c.Quick()
	for _, tc := range []struct {
		c    *Campaign
		want string
	}{
		{other("1..2", "1..20"), "seeds: 1, 2 in the folder, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... 20 (20 values) now"},
		{other("[mct, minmin]", "[minmin, mct]"), "heuristics: mct, minmin in the folder, minmin, mct now"},
		{other("[a, b]", "[a]"), "scenarios: a, b in the folder, a now"},
		{parsed(t, small+"patience: [off]"), "patience: 3 in the folder, off now"},
		{quick, "days: all in the folder, 14 now"},
		{changed, "scenario b: its text has changed"},
	} {
		_, err := Run(t.Context(), tc.c, o)
		if m, ok := errors.AsType[*MismatchError](err); !ok || m.Differences[0] != tc.want ||
			!strings.Contains(err.Error(), "another folder") {
			t.Errorf("error %v, want %s", err, tc.want)
		}
	}
	if got := fileText(t, o.Dir, ResultsName); got != want {
		t.Errorf("a refused campaign has changed the results:\n%s", cmp.Diff(want, got))
	}
}

func TestReferenceWithOtherFiguresIsRefused(t *testing.T) {
	c, dir := parsed(t, small), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(dir, &fake{before: func(ctx context.Context, _ *Experiment) error { return ctx.Err() }})
	o.Workers = 1
	o.Progress = func(p Progress) {
		if p.Done == 3 {
			cancel()
		}
	}
	if _, err := Run(ctx, c, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	before := fileText(t, dir, journalName)
	r := &fake{salt: "new"}
	_, err := Run(t.Context(), c, options(dir, r))
	ce, ok := errors.AsType[*ChangedError](err)
	if !ok || ce.Experiment != "a, seed 1, reference" || ce.Column != "grid_jobs" ||
		!strings.Contains(err.Error(), "start again") {
		t.Errorf("error %v", err)
	}
	if slices.ContainsFunc(r.ran, func(e string) bool {
		return strings.HasPrefix(e, "a, seed 1, ") && !strings.HasSuffix(e, "reference")
	}) {
		t.Errorf("experiments of the changed reference ran: %q", r.ran)
	}
	if after := fileText(t, dir, journalName); !strings.HasPrefix(after, before) ||
		strings.Contains(after[len(before):], `"a","false","true","exhaustive","1"`) {
		t.Errorf("journal\n%s", after)
	}
}

func TestTwoProcessesDoNotShareAFolder(t *testing.T) {
	c, dir := parsed(t, small), t.TempDir()
	var first sync.Once
	r := &fake{}
	r.before = func(context.Context, *Experiment) error {
		first.Do(func() {
			_, err := Run(t.Context(), c, options(dir, &fake{}))
			if _, ok := errors.AsType[*LockedError](err); !ok || !strings.Contains(err.Error(), dir) {
				t.Errorf("another one meanwhile: %v", err)
			}
		})
		return nil
	}
	mustRun(t, c, options(dir, r))
	mustRun(t, c, options(dir, r))
}

func TestForeignFilesAreNotOverwritten(t *testing.T) {
	for name, text := range map[string]string{
		journalName: "my diary\n", ResultsName: "a,b\n", TimingName: "a,b\n",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), parsed(t, small), options(dir, &fake{})); err == nil ||
			!strings.Contains(err.Error(), "accepted") {
			t.Errorf("%s: %v", name, err)
		}
		if got := fileText(t, dir, name); got != text {
			t.Errorf("%s has become %q", name, got)
		}
	}
}

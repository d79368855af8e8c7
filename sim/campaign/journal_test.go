package campaign

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestADamagedJournalIsRefused(t *testing.T) {
	c, o := parsed(t, small), options(t.TempDir(), &fake{})
	want := mustRun(t, c, o)
	path := filepath.Join(o.Dir, journalName)
	whole := strings.SplitAfter(fileText(t, o.Dir, journalName), "\n")
	whole = whole[:len(whole)-1]
	join := func(lines ...string) string { return strings.Join(lines, "") }
	row := func(from, to string) string { // a line with another text and its own checksum
		text, ok := content([]byte(whole[3]))
		if !ok {
			t.Fatal(whole[3])
		}
		changed := bytes.Replace(text, []byte(from), []byte(to), 1)
		return strings.Replace(strings.Replace(whole[3], string(text), string(changed), 1), whole[3][:8],
			sumText(checksum(changed)), 1)
	}
	broken := strings.Replace(whole[3], "false", "falsy", 1)
	for name, tc := range map[string]struct {
		text string
		line int
		what string
	}{
		"a row in the middle": {join(whole[0], whole[1], whole[2], broken, whole[4]), 4, "broken line"},
		"the first line":      {join("00000000 {}\n", whole[1]), 1, "broken line"},
		"no JSON":             {join(whole[0], sumText(checksum([]byte("x")))+" x\n"), 2, "invalid character"},
		"a row twice":         {join(whole[0], whole[1], whole[1]), 3, "twice"},
		"a row of another":    {join(whole[0], whole[1], row(`"false"`, `"falsy"`)), 3, "does not have"},
		"a short row":         {join(whole[0], row(`"row":["a",`, `"row":[`)), 2, "does not have"},
		"no columns":          {join(whole[0], row(`"row":[`, `"wor":[`)), 2, "does not have"},
	} {
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), c, o)
		d, ok := errors.AsType[*DamagedError](err)
		if !ok || d.Line != tc.line || !strings.Contains(d.What, tc.what) ||
			!strings.Contains(err.Error(), "start again") {
			t.Errorf("%s: %v, want line %d, %s", name, err, tc.line, tc.what)
		}
		if got := fileText(t, o.Dir, journalName); got != tc.text {
			t.Errorf("%s: the journal has changed:\n%s", name, cmp.Diff(tc.text, got))
		}
	}
	// The last line may have been torn in any way, and be longer than what follows.
	for _, last := range []string{broken, strings.Repeat("\x00", 100_000)} {
		if err := os.WriteFile(path, []byte(join(whole[0], whole[1], whole[2], last)), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := mustRun(t, c, o); got != want {
				t.Error(cmp.Diff(want, got))
			}
		}
	}
}

func sumText(sum uint32) string {
	const digits = "0123456789abcdef"
	text := make([]byte, 8)
	for i := range text {
		text[7-i] = digits[sum>>(4*i)&15]
	}
	return string(text)
}

// TestLinesAreReadBackUpToTheTornOne is about lines of any bytes that JSON can
// have, cut anywhere.
func TestLinesAreReadBackUpToTheTornOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "texts")
		var file []byte
		var ends []int
		for _, text := range texts {
			l, err := line(text)
			if err != nil {
				t.Fatal(err)
			}
			file = append(file, l...)
			ends = append(ends, len(file))
		}
		cut := rapid.IntRange(0, len(file)).Draw(t, "cut")
		whole := 0
		for whole < len(ends) && ends[whole] <= cut {
			whole++
		}
		lines, torn, err := readLines(bytes.NewReader(file[:cut]), "j")
		if err != nil || len(lines) != whole {
			t.Fatalf("%d lines of %d, %v", len(lines), whole, err)
		}
		start := 0
		if whole > 0 {
			start = ends[whole-1]
		}
		if !bytes.Equal(torn, file[start:cut]) {
			t.Fatalf("torn %q, want %q", torn, file[start:cut])
		}
	})
}

// FuzzJournal: whatever a file has, each line that is taken is one that was written.
func FuzzJournal(f *testing.F) {
	one, err := line("a")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat(one, one))
	f.Add(append(one, "x\ny"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, torn, err := readLines(bytes.NewReader(data), "j")
		if err != nil {
			if d, ok := errors.AsType[*DamagedError](err); !ok || d.Line < 1 {
				t.Fatal(err)
			}
			return
		}
		var again []byte
		for _, text := range lines {
			again = append(again, sumText(checksum(text))+" "+string(text)+"\n"...)
		}
		again = append(again, torn...)
		if !strings.EqualFold(string(again), string(data)) || len(again) != len(data) {
			t.Fatalf("%q is read as %q", data, again)
		}
	})
}

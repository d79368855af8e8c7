package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// completed completes words on a grid that has a name of each kind.
func completed(t interface{ Fatal(...any) }, words ...string) []string {
	parser, err := newParser(&cmdline.Process{Stdout: io.Discard, Stderr: io.Discard}, &cli{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range completions(parser.Model.Node, words, func(at *cursor) []candidate {
		return []candidate{{strings.Join(append([]string{"<" + at.kind}, at.agents...), "@") + ">", ""}}
	}) {
		list = append(list, c.text)
	}
	return list
}

func TestCompletions(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"wai", []string{"wait"}},
		{"sim ru", []string{"run"}},
		{"wait ", []string{"<active>"}},
		{"wait 01 ", []string{"<active>"}},
		{"job ", []string{"<jobs>"}},
		{"why ", []string{"<job>"}},
		{"why 01 ", nil},
		{"submit ", []string{"<service>"}},
		{"submit lu ", []string{"<argument>"}},
		{"submit --width 4 lu ", []string{"<argument>"}},
		{"submit --width=4 -q lu a=b ", []string{"<argument>"}},
		{"submit --neg", []string{"--negotiate"}},
		{"submit --width ", nil},
		{"submit -- --ne", nil},
		{"--agent http://a:1 --agent=http://b:2 drain ", []string{"<site@http://a:1@http://b:2>"}},
		{"queue --site ", []string{"<site>"}},
		{"queue --site=", []string{"--site=<site>"}},
		{"queue --state can", []string{"cancelling", "cancelled"}},
		{"queue --state=do", []string{"--state=done"}},
		{"move 01 ", []string{"<site>"}},
		{"settle 01 a", []string{"aborted"}},
		{"completion ", []string{"bash", "zsh", "fish"}},
		{"queue --nosuch=", nil},
		{"nosuch ", nil},
		{"supervis", nil}, // hidden
	} {
		words := splitLine(c.line)
		if got := completed(t, words...); !cmp.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
	if got := completed(t); !slices.Contains(got, "submit") || slices.Contains(got, "gate") {
		t.Errorf("of nothing: %q", got)
	}
}

func TestLinesAreSplitLikeInAShell(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        {""},
		"drover ":                 {"drover", ""},
		"drover  job":             {"drover", "job"},
		`a 'b c' "d e"f g\ h `:    {"a", "b c", "d ef", "g h", ""},
		`a 'b c`:                  {"a", "b c"},
		`exec argv=["echo","x y"`: {"exec", `argv=[echo,x y`},
		`a '' b`:                  {"a", "", "b"},
		`a \`:                     {"a", ""},
	} {
		if got := splitLine(line); !cmp.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// All candidates begin with the typed text.
func TestCompletionsBeginWithTheTypedText(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{
		"", "-", "--", "-q", "--agent", "--agent=x", "submit", "sim", "run", "a=b", "wait", "--json", "--state",
		"--site=", "queue", "=", "é",
	}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		w := words.Draw(t, "words")
		for _, c := range completed(t, w...) {
			if !strings.HasPrefix(c, w[len(w)-1]) {
				t.Fatalf("%q: %q", w, c)
			}
		}
	})
}

func FuzzCompletions(f *testing.F) {
	for _, s := range []string{"submit --width 4 lu a=", "queue --site=", `a 'b`, "--agent x", "-- -", "sim run -"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := splitLine(line)
		if len(words) == 0 {
			t.Fatal("no word")
		}
		for _, c := range completed(t, words...) {
			if !strings.HasPrefix(c, words[len(words)-1]) {
				t.Fatalf("%q: %q", line, c)
			}
		}
	})
}

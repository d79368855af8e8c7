package process

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestAGuardKnowsTheRegisteredGroups(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "+/a\n": {"/a"}, "+/a\n+/b\n-/a\n+/c": {"/b"}, "\n?\n+/a b\n-/c\n": {"/a b"},
	} {
		if got := guarded(strings.NewReader(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	text := lines('+', []string{"/a", "/b"}) + lines('-', []string{"/b"})
	if got := guarded(strings.NewReader(text)); !slices.Equal(got, []string{"/a"}) {
		t.Errorf("%q: %q", text, got)
	}
}

func TestAGateThatBecomesAGuardRunsNoProgram(t *testing.T) {
	_, err := readPassage(bytes.NewReader([]byte{255, 255, 255, 255, 0, 0, 0, 0}))
	if !errors.Is(err, errGuard) {
		t.Error(err)
	}
}

func FuzzGuarded(f *testing.F) {
	f.Add("+/a\n-/a\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range guarded(strings.NewReader(text)) {
			if !strings.Contains(text, "+"+file+"\n") {
				t.Errorf("the guard does not know %q", file)
			}
		}
	})
}

package dfrs

import (
	"os"
	"strings"
	"testing"
)

func TestTheDocumentationListsEverySetting(t *testing.T) {
	text, err := os.ReadFile("../../../docs/policies/dfrs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Settings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, key := range keys {
		if !strings.Contains(section, "\n| `"+key+"` | ") {
			t.Errorf("docs/policies/dfrs.md has no row for %s", key)
		}
	}
	if got := strings.Count(section, "\n| `"); got != len(keys) {
		t.Errorf("docs/policies/dfrs.md has rows for %d settings, want %d", got, len(keys))
	}
}

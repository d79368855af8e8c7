package dfrs

import (
	"os"
	"strings"
	"testing"
)

func TestEverySettingIsInTheManual(t *testing.T) {
	text, err := os.ReadFile("../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### Fractional scheduling\n")
	section, _, _ = strings.Cut(section, "\n### ")
	for _, key := range keys {
		if !strings.Contains(section, "\n| `"+key+"` | ") {
			t.Errorf("docs/simulation.md does not tell of %s", key)
		}
	}
	if got := strings.Count(section, "\n| `"); got != len(keys) {
		t.Errorf("docs/simulation.md tells of %d settings, there are %d", got, len(keys))
	}
}

package papers

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page has a report of this version of the claims and sections, of the paper's runs,
// and the pictures that it shows.
func TestThePageOfTheDocsHasTheReportOnConvergentScheduling(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	data, err := os.ReadFile(filepath.Join(docs, "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(data), ConvergentBegin)
	part, _, ended := strings.Cut(rest, ConvergentEnd)
	if !begun || !ended || !strings.Contains(string(data), "\n## Convergent scheduling\n") {
		t.Fatal("docs/reproduction.md has no place for the report about convergent scheduling")
	}
	const again = "; drover-lab repro convergent --doc docs/reproduction.md writes it anew"
	for _, c := range slices.Concat(ConvergentClaims(), convergentMeant, convergentTargets) {
		if !strings.Contains(part, "`"+c.ID+"` "+c.Says+" | "+c.Test+" | ") {
			t.Errorf("the claim %s is not there as it is%s", c.ID, again)
		}
	}
	r := madeConvergent(t, nil)
	for i := range r.sections {
		if !strings.Contains(part, "\n### "+r.sections[i].title+"\n") {
			t.Errorf("%s is not there%s", r.sections[i].file, again)
		}
	}
	for _, gap := range []string{"Not the whole", "Not measured", "not explained yet"} {
		if strings.Contains(part, gap) {
			t.Errorf("the report says: %s", gap)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(part, -1) {
		if _, err := os.Stat(filepath.Join(docs, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a picture of the page: %v", err)
		}
	}
}

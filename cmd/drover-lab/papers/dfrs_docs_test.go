package papers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page has a report of this version of the claims and sections, of a whole run, and
// the pictures that it shows.
func TestThePageOfTheDocsHasTheReportOnDFRS(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	data, err := os.ReadFile(filepath.Join(docs, "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(data), DFRSBegin)
	part, _, ended := strings.Cut(rest, DFRSEnd)
	if !begun || !ended || !strings.Contains(string(data), "\n## DFRS\n") {
		t.Fatal("docs/reproduction.md has no place for the report about DFRS")
	}
	if strings.TrimSpace(part) == "" {
		t.Skip("docs/reproduction.md has no report about DFRS yet: drover-lab repro dfrs --doc docs/reproduction.md writes it")
	}
	const again = "; drover-lab repro dfrs --doc docs/reproduction.md writes it anew"
	for _, c := range DFRSClaims() {
		if !strings.Contains(part, "`"+c.ID+"` "+c.Says+" | "+c.Test+" | ") {
			t.Errorf("the claim %s is not there as it is%s", c.ID, again)
		}
	}
	r := madeDFRS(t, shares())
	for i := range r.sections {
		if !strings.Contains(part, "\n### "+r.sections[i].title+"\n") {
			t.Errorf("%s is not there%s", r.sections[i].file, again)
		}
	}
	if strings.Contains(part, "Not the whole") || strings.Contains(part, "What is missing") {
		t.Error("the report is of a part of the runs")
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(part, -1) {
		if _, err := os.Stat(filepath.Join(docs, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a picture of the page: %v", err)
		}
	}
}

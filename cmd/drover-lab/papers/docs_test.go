package papers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of the docs has a report of this version of the claims and questions,
// and the pictures that it shows.
func TestThePageOfTheDocsHasTheReport(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	data, err := os.ReadFile(filepath.Join(docs, "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	_, rest, begun := strings.Cut(page, Begin)
	part, _, ended := strings.Cut(rest, End)
	if !begun || !ended || !strings.Contains(page, "\n## Reallocation\n") {
		t.Fatal("docs/reproduction.md has no place for the report")
	}
	const again = "; drover-lab repro reallocation --doc docs/reproduction.md writes it anew"
	for _, c := range Claims() {
		if !strings.Contains(part, "`"+c.ID+"` "+c.Says+" | "+c.Test+" | ") {
			t.Errorf("the claim %s is not there as it is%s", c.ID, again)
		}
	}
	for _, q := range Questions() {
		if !strings.Contains(part, "\n#### "+q.Asks+"\n") {
			t.Errorf("the question %s is not there%s", q.ID, again)
		}
	}
	for _, f := range figures {
		if !strings.Contains(part, "\n#### "+f.title()+"\n") {
			t.Errorf("%s is not there%s", f.file(), again)
		}
	}
	if strings.Contains(part, "PARTIAL") || strings.Contains(part, "quick") {
		t.Error("the report is of a part of the experiments")
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(part, -1) {
		if _, err := os.Stat(filepath.Join(docs, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a picture of the page: %v", err)
		}
	}
}

// The page has the tables about dynP, from a whole run.
func TestThePageOfTheDocsHasTheTablesOfDynP(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	data, err := os.ReadFile(filepath.Join(docs, "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(data), DynPBegin)
	part, _, ended := strings.Cut(rest, DynPEnd)
	if !begun || !ended {
		t.Fatal("docs/reproduction.md has no place for the tables of dynP")
	}
	r := DynP(DynPTraces, likePaper(DynPTraces, false, exactWay), false)
	for i := range r.sections {
		if !strings.Contains(part, "\n### "+r.sections[i].title+"\n") {
			t.Errorf("%s is not there; drover-lab repro dynp --doc docs/reproduction.md writes it anew", r.sections[i].file)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(part, -1) {
		if _, err := os.Stat(filepath.Join(docs, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a picture of the page: %v", err)
		}
	}
}

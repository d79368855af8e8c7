package papers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page has the report about overbooking, of a whole run.
func TestThePageOfTheDocsHasTheReportAboutOverbooking(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	data, err := os.ReadFile(filepath.Join(docs, "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(data), OverbookingBegin)
	part, _, ended := strings.Cut(rest, OverbookingEnd)
	if !begun || !ended {
		t.Fatal("docs/reproduction.md has no place for the report about overbooking")
	}
	r := Overbooking(sales(), "")
	for i := range r.sections {
		if !strings.Contains(part, "\n### "+r.sections[i].title+"\n") {
			t.Errorf("%s is not there; drover-lab repro overbooking --doc docs/reproduction.md writes it anew", r.sections[i].file)
		}
	}
	if strings.Contains(part, "Not the whole") {
		t.Error("the report is of a part of the runs")
	}
	pictures := regexp.MustCompile(`\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(part, -1)
	if len(pictures) < 8 {
		t.Errorf("%d pictures", len(pictures))
	}
	for _, m := range pictures {
		if _, err := os.Stat(filepath.Join(docs, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a picture of the page: %v", err)
		}
	}
}

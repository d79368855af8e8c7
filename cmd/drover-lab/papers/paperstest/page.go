// Package paperstest checks the pages of docs/reproduction against the reports that they
// hold.
package paperstest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// Rewrite says whether golden files are written again: -rewrite.
var Rewrite = flag.Bool("rewrite", false, "write the golden files again")

var picture = regexp.MustCompile(`\]\(([^)]+\.svg)\)`)

// Page is the report on a page of docs/reproduction.
type Page struct {
	Text     string // between the marks
	Pictures int

	again string // the command that writes it
}

// Read returns the report about a paper from its page. docs is the path of the folder
// docs. It fails the test if the page has no marks, or shows pictures that do not exist.
func Read(t *testing.T, docs, paper string) *Page {
	t.Helper()
	folder := filepath.Join(docs, "reproduction")
	data, err := os.ReadFile(filepath.Join(folder, paper+".md"))
	if err != nil {
		t.Fatal(err)
	}
	begin, end := papers.Marks(paper)
	_, rest, begun := strings.Cut(string(data), begin)
	text, _, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("docs/reproduction/%s.md has no place for the report", paper)
	}
	pictures := picture.FindAllStringSubmatch(text, -1)
	for _, m := range pictures {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a picture of the page: %v", err)
		}
	}
	again := "drover-lab repro " + paper + " --doc docs/reproduction/" + paper + ".md writes it again"
	return &Page{Text: text, Pictures: len(pictures), again: again}
}

// Has fails the test unless the report has a text.
func (p *Page) Has(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(p.Text, text) {
		t.Errorf("the page lacks %q; %s", text, p.again)
	}
}

// HasClaims fails the test unless the report has claims as they are.
func HasClaims[S any](t *testing.T, p *Page, claims []papers.Claim[S]) {
	t.Helper()
	for i := range claims {
		c := &claims[i]
		p.Has(t, "`"+c.ID+"` "+c.Says+" | "+c.Test+" | ")
	}
}

// HasSections fails the test unless the report has the sections of another one.
func (p *Page) HasSections(t *testing.T, of *papers.Report) {
	t.Helper()
	for _, s := range of.Sections() {
		p.Has(t, "\n##"+strings.Repeat("#", s.Deeper)+" "+s.Title+"\n")
	}
}

// Lacks fails the test if the report has one of some texts.
func (p *Page) Lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(p.Text, text) {
			t.Errorf("the report on the page says %q", text)
		}
	}
}

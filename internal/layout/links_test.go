package layout_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fenced  = regexp.MustCompile("(?s)\n```.*?\n```")
)

// TestLinksOfThePagesLeadSomewhere checks that every relative link in a page names a
// file of the tree, and its anchor a heading.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	tree := os.DirFS("../..")
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(tree, name)
		}
		// The links of a generated report are those of the page that it is copied into.
		if path.Ext(name) != ".md" || strings.HasPrefix(name, "docs/figures/") {
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(page(t, tree, name), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
				continue
			}
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := fs.Stat(tree, target); err != nil {
				t.Errorf("%s: %s: no such file", name, m[1])
				continue
			}
			if anchor != "" && path.Ext(target) == ".md" && !anchors(page(t, tree, target))[anchor] {
				t.Errorf("%s: %s: no such heading", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// page returns the text of a page without its code blocks.
func page(t *testing.T, tree fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// anchors returns the anchors of a page's headings, as GitHub derives them.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		found[anchor] = true
	}
	return found
}

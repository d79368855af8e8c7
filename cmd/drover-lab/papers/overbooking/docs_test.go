package overbooking

import (
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// The page has the report of a whole run.
func TestThePageOfTheDocsHasTheReport(t *testing.T) {
	page := paperstest.Read(t, filepath.Join("..", "..", "..", "..", "docs"), "overbooking")
	page.HasSections(t, &overbooked(t, sales(), "").Report)
	page.Lacks(t, "Not the whole")
	if page.Pictures < 8 {
		t.Errorf("%d pictures", page.Pictures)
	}
}

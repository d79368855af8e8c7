package convergent

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// The page has this version of the claims and sections, of the paper's runs.
func TestThePageOfTheDocsHasTheReport(t *testing.T) {
	page := paperstest.Read(t, filepath.Join("..", "..", "..", "..", "docs"), "convergent")
	paperstest.HasClaims(t, page, slices.Concat(Claims(), meantClaims, targets))
	page.HasSections(t, &madeConvergent(t, nil).Report)
	page.Lacks(t, "Not the whole", "Not measured", "not explained yet")
}

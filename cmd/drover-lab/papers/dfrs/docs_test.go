package dfrs

import (
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// The page has this version of the claims and sections, of a whole run.
func TestThePageOfTheDocsHasTheReport(t *testing.T) {
	page := paperstest.Read(t, filepath.Join("..", "..", "..", "..", "docs"), "dfrs")
	paperstest.HasClaims(t, page, Claims())
	page.HasSections(t, &madeDFRS(t, shares()).Report)
	page.Lacks(t, "Not the whole", "What is missing")
}

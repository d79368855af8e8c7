package reallocation

import (
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// The page has this version of the claims, questions and figures, and the whole experiment.
func TestThePageOfTheDocsHasTheReport(t *testing.T) {
	page := paperstest.Read(t, filepath.Join("..", "..", "..", "..", "docs"), "reallocation")
	paperstest.HasClaims(t, page, Claims())
	for _, q := range Questions() {
		page.Has(t, "\n### "+q.Asks+"\n")
	}
	for _, f := range figures {
		page.Has(t, "\n### "+f.title()+"\n")
	}
	page.Lacks(t, "PARTIAL", "quick")
}

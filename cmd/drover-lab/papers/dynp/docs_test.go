package dynp

import (
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// The page has the tables of a whole run.
func TestThePageOfTheDocsHasTheTables(t *testing.T) {
	page := paperstest.Read(t, filepath.Join("..", "..", "..", "..", "docs"), "dynp")
	page.HasSections(t, &NewReport(Traces, likePaper(Traces, false, exactWay), false).Report)
}

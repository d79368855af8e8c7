package reallocation_test

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Site 0, of 4 processors, drains. At it wait job 0, which is too wide for site 1, and
// then job 1, which is not; job 2 waits at site 1.
func TestAJobThatNoSiteTakesReturnsToItsSlot(t *testing.T) {
	for h := reallocation.MCT; h <= reallocation.MaxRelGain; h++ {
		g := newGrid(t, 4, 2)
		g.submit(0, rigid(4, 100)[0], nil)
		g.submit(1, rigid(2, 10)[0], nil)
		g.wait(0, rigid(4, 50))
		g.wait(0, rigid(2, 50))
		g.wait(1, rigid(2, 500))
		g.sites[0].drains = true
		c := reallocation.Default
		c.Algorithm, c.Heuristic, c.LeastGain = reallocation.AllCancellation, h, batch.Second
		record := g.run(c, nil)
		if got := strings.Join(g.log, " "); !strings.Contains(got, "0 back") || !strings.Contains(got, "1=1") ||
			!strings.Contains(got, "2=1") {
			t.Errorf("%v: %s", h, got)
		}
		if record.Held != 3 || record.Kept != 1 || record.Moves != 1 || record.Failed != 0 ||
			g.jobs[0].past != (reallocation.Past{}) {
			t.Errorf("%v: %+v, the past %+v", h, record, g.jobs[0].past)
		}
	}
}

func TestARoundContinuesAfterAllJobsReturned(t *testing.T) {
	g := newGrid(t, 2, 2)
	for s := range g.sites {
		g.submit(s, rigid(2, 100)[0], nil)
		g.wait(s, rigid(1, 50))
		g.wait(s, rigid(2, 60))
		g.sites[s].drains = true
	}
	c := reallocation.Default
	c.Algorithm = reallocation.AllCancellation
	record := g.run(c, nil)
	if got := strings.Join(g.log, " "); got != "0 back 1 back 2 back 3 back" || record.Kept != 4 ||
		record.Later+record.Moves+record.Failed != 0 {
		t.Errorf("%s, %+v", got, record)
	}
}

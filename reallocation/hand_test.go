package reallocation_test

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// crossing is two sites of 2 processors. Site 0 is taken until 300, site 1 until
// 100. At 0 wait the jobs 0 (100 s), 1 (40 s) and 2 (200 s), each on all of it: they
// end at 400, 440 and 640. Job 2 is narrow: 1 processor.
//
// At site 1, alone, they would end at 200, 140 and 300: gains 200, 300 and 340.
func crossing(t *testing.T) *grid {
	g := newGrid(t, 2, 2)
	g.submit(0, rigid(2, 300)[0], nil)
	g.submit(1, rigid(2, 100)[0], nil)
	g.wait(0, rigid(2, 100))
	g.wait(0, rigid(2, 40))
	g.wait(0, rigid(1, 200))
	return g
}

// Worked by hand from the picture above; a later pick sees what the former have
// done, and what has moved up at home.
//
// Regular. MCT: 0 for 200; 1 would end at 340 at home and goes for 240; 2 at 500,
// and goes for 440. MinMin: 1 for 140, 0 for 240, 2 for 440. The others begin with
// 2, which leaves site 1 one processor until 300: then 0 would end at 400 at both
// and stays, 1 goes for 340.
//
// All-cancellation. MinMin: 1 (140), 0 (240), 2 (440 there, 500 at home). MaxMin: 2
// (300), 0 (400 at both: it stays), 1 (340 there, 440 at home). Sufferage: all
// suffer 200, so 0; then 1 and 2 suffer 100. The gains: 2 (340); 1 (100), which
// would end at 340 at both and stays; 0 (400 there, 440 at home).
func TestEachHeuristicPicksInItsOrder(t *testing.T) {
	for _, c := range []struct {
		algorithm reallocation.Algorithm
		heuristic reallocation.Heuristic
		want      string
	}{
		{reallocation.Regular, reallocation.MCT, "0>1 1>1 2>1"},
		{reallocation.Regular, reallocation.MinMin, "1>1 0>1 2>1"},
		{reallocation.Regular, reallocation.MaxMin, "2>1 1>1"},
		{reallocation.Regular, reallocation.Sufferage, "2>1 1>1"},
		{reallocation.Regular, reallocation.MaxGain, "2>1 1>1"},
		{reallocation.Regular, reallocation.MaxRelGain, "2>1 1>1"},
		{reallocation.AllCancellation, reallocation.MCT, "0=1 1=1 2=1"},
		{reallocation.AllCancellation, reallocation.MinMin, "1=1 0=1 2=1"},
		{reallocation.AllCancellation, reallocation.MaxMin, "2=1 0=0 1=1"},
		{reallocation.AllCancellation, reallocation.Sufferage, "0=1 1=1 2=1"},
		{reallocation.AllCancellation, reallocation.MaxGain, "2=1 1=0 0=1"},
		{reallocation.AllCancellation, reallocation.MaxRelGain, "2=1 1=0 0=1"},
	} {
		g := crossing(t)
		config := reallocation.Default
		config.Algorithm, config.Heuristic = c.algorithm, c.heuristic
		g.run(config, nil)
		if got := strings.Join(g.log, " "); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.algorithm, c.heuristic, got, c.want)
		}
	}
}

// The paper's figure 3: two like clusters, the first one full. h and i would end earlier
// at the second one and go there, one after the other; j, which has moved up, stays, and
// so do the slots of running jobs.
func TestTheTwoLastJobsOfFigure3GoToTheOtherCluster(t *testing.T) {
	g := newGrid(t, 4, 4)
	g.submit(0, rigid(3, 100)[0], nil)
	f := g.submit(0, rigid(1, 200)[0], nil)
	g.submit(1, rigid(4, 120)[0], nil)
	g.wait(0, rigid(4, 60))  // j: from 200 to 260
	g.wait(0, rigid(2, 110)) // h: from 260 to 370
	g.wait(0, rigid(2, 110)) // i: beside h
	g.sites[0].policy.Apply(0, &batch.Event{Kind: batch.Finish, Job: f})
	g.pass(0) // j until 160, at the other until 180; h and i until 270, at the other until 230
	c := reallocation.Default
	c.Threshold = 40 * batch.Second
	record := g.run(c, nil)
	if got := strings.Join(g.log, " "); got != "1>1 2>1" {
		t.Errorf("moved %s", got)
	}
	if record.Moves != 2 || record.Gain != 80*batch.Second {
		t.Errorf("record %+v", record)
	}
}

// Site 0 has 4 processors, taken until 100. Then jobs 0 and 1 are planned, until 150
// beside each other, until 200 two of a local user's, around which job 2 has come,
// on all processors until 300, and job 3 last. When 0 and 1 have gone, both of the
// local user's move up, the one behind job 2 when that has been looked at; what this
// leaves is found when job 3 has gone, which begins long after. Then job 2 is
// completed by 250, sooner than where it could go: it stays.
func TestAJobMovesUpIntoAnOldGap(t *testing.T) {
	g := newGrid(t, 4, 2, 4)
	g.submit(0, rigid(4, 100)[0], nil)
	g.submit(1, rigid(2, 40)[0], nil)
	g.submit(2, rigid(4, 110)[0], nil)
	g.wait(0, rigid(2, 50))
	g.wait(0, rigid(2, 50))
	g.submit(0, rigid(2, 50)[0], nil)
	g.wait(0, rigid(4, 100))
	g.submit(0, rigid(2, 50)[0], nil)
	g.wait(0, rigid(4, 60))
	c := reallocation.Default
	c.Heuristic, c.Threshold = reallocation.MinMin, 10*batch.Second
	g.run(c, nil)
	if got := strings.Join(g.log, " "); got != "0>1 1>1 3>2" {
		t.Errorf("moved %s", got)
	}
}

func TestAMoveNeedsTheThresholdUnlessTheTransferIsKnown(t *testing.T) {
	known := func(d batch.Duration) reallocation.Transfer {
		return func(int, int, int) (batch.Duration, bool) { return d, true }
	}
	for _, c := range []struct {
		name     string
		gain     int64
		transfer reallocation.Transfer
		least    batch.Duration
		want     string
	}{
		{"59 s are too little", 59, nil, 0, ""},
		{"60 s are enough", 60, nil, 0, "0>1"},
		{"a transfer that is done by then costs nothing", 1, known(0), 0, "0>1"},
		{"a transfer counts as long as it takes", 100, known(100 * batch.Second), 0, ""},
		{"and no longer", 100, known(99 * batch.Second), 0, "0>1"},
		{"the least gain is asked in any case", 100, known(0), 101 * batch.Second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGrid(t, 1, 1)
			g.submit(0, rigid(1, c.gain)[0], nil)
			g.wait(0, rigid(1, 10))
			config := reallocation.Default
			config.LeastGain = c.least
			g.run(config, c.transfer)
			if got := strings.Join(g.log, " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Job 0 is long; in each round a short one has come that MinMin prefers. When it
// has been put back three times it is held no more, and moves up while the others
// are.
func TestALongJobStarvesUnderMinMinOnlyWithoutTheGuard(t *testing.T) {
	for _, c := range []struct {
		patience int
		want     batch.Duration
	}{{reallocation.Starve, 1150 * batch.Second}, {2, 1050 * batch.Second}} {
		g := newGrid(t, 1)
		g.submit(0, rigid(1, 50)[0], nil)
		g.wait(0, rigid(1, 1000))
		config := reallocation.Default
		config.Algorithm, config.Heuristic, config.Patience = reallocation.AllCancellation, reallocation.MinMin,
			c.patience
		for range 10 {
			g.wait(0, rigid(1, 10))
			g.run(config, nil)
		}
		if got := g.standing(g.jobs[0]); got != c.want {
			t.Errorf("patience %d: the long job ends at %v, want %v", c.patience, got, c.want)
		}
	}
}

func TestTheWindowComparesTheOldestJobsAndTakesTheRestInOrder(t *testing.T) {
	for window, want := range map[reallocation.Window]string{
		1: "0=0 1=0 2=0", 2: "1=0 0=0 2=0", reallocation.All: "2=0 1=0 0=0",
	} {
		g := newGrid(t, 1)
		g.submit(0, rigid(1, 50)[0], nil)
		for _, seconds := range []int64{300, 200, 100} {
			g.wait(0, rigid(1, seconds))
		}
		config := reallocation.Default
		config.Algorithm, config.Heuristic, config.Window = reallocation.AllCancellation, reallocation.MinMin, window
		g.run(config, nil)
		if got := strings.Join(g.log, " "); got != want {
			t.Errorf("window %d: %s, want %s", window, got, want)
		}
	}
}

// On the two processors that there are both take as long, though on one of them one would
// take less: the job submitted first comes first, whether it is smaller or not.
func TestTheOlderOfTwoEqualJobsComesFirst(t *testing.T) {
	menu := func(alone int64) []batch.Shape { return append(rigid(1, alone), rigid(2, 50)...) }
	for _, h := range []reallocation.Heuristic{reallocation.MinMin, reallocation.MaxMin} {
		for _, alone := range [][2]int64{{100, 110}, {110, 100}, {100, 100}} {
			g := newGrid(t, 2)
			g.alike = true
			g.submit(0, rigid(2, 50)[0], nil)
			g.wait(0, menu(alone[0]))
			g.wait(0, menu(alone[1]))
			config := reallocation.Default
			config.Algorithm, config.Heuristic = reallocation.AllCancellation, h
			g.run(config, nil)
			if got := strings.Join(g.log, " "); got != "0=0 1=0" {
				t.Errorf("%v, %v: %s", h, alone, got)
			}
		}
	}
}

// Each site is asked once about all jobs, and then only where a plan has changed.
func TestARoundThatMovesNothingAsksEachSiteOnce(t *testing.T) {
	g := newGrid(t, 1, 1, 1)
	for s := range 3 {
		g.submit(s, rigid(1, 50)[0], nil)
		g.wait(s, rigid(1, 10))
	}
	for h := reallocation.MCT; h <= reallocation.MaxRelGain; h++ {
		config := reallocation.Default
		config.Heuristic = h
		// To each site a question about its own job, and one about the two others.
		if got := g.run(config, nil); got.Questions != 6 || got.Estimates != 9 || got.Moves != 0 {
			t.Errorf("%v: %+v", h, got)
		}
	}
}

func TestParseNamesListsTheKnownNamesInErrors(t *testing.T) {
	for h := reallocation.MCT; h <= reallocation.MaxRelGain; h++ {
		if got, err := reallocation.ParseHeuristic(h.String()); err != nil || got != h {
			t.Errorf("%v: %v, %v", h, got, err)
		}
	}
	_, heuristic := reallocation.ParseHeuristic("best")
	_, algorithm := reallocation.ParseAlgorithm("some")
	_, window := reallocation.ParseWindow("0")
	config := reallocation.Config{
		Window: 0, Period: -1, Threshold: -1, LeastGain: -1, MostMoves: -1, MostMovesRound: -1, Patience: -2,
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{heuristic, `heuristic: "best", accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain`},
		{algorithm, `algorithm: "some", accepted: regular, all-cancellation`},
		{window, `window: "0", accepted: at least 1, or all`},
		{config.Validate(), "period:"},
		{config.Validate(), "threshold:"},
		{config.Validate(), "least_gain:"},
		{config.Validate(), "most_moves:"},
		{config.Validate(), "most_moves_round:"},
		{config.Validate(), "patience:"},
		{config.Validate(), "window:"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if err := reallocation.Default.Validate(); err != nil {
		t.Error(err)
	}
}

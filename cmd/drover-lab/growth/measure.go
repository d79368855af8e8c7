package growth

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Case is one round to be measured.
type Case struct {
	Sites, Jobs int
	Algorithm   reallocation.Algorithm
	Heuristic   reallocation.Heuristic
	Window      reallocation.Window
	Alike       bool // the round knows which jobs are alike
	Seed        uint64
}

// Row is what a round came to.
type Row struct {
	Case
	Record reallocation.Record
	// Total is the whole time of the round, Own that of the heuristic.
	Total, Own time.Duration
	Heap       uint64 // bytes that the round holds when it is over
}

// Limits of a case: what a machine of today has room for.
const (
	MaxSites = 1000
	MaxJobs  = 1_000_000
)

// Validate says what is wrong with a case.
func (c *Case) Validate() error {
	switch {
	case c.Sites < 1 || c.Sites > MaxSites:
		return fmt.Errorf("sites: %d, accepted: 1 to %d", c.Sites, MaxSites)
	case c.Jobs < 1 || c.Jobs > MaxJobs:
		return fmt.Errorf("jobs: %d, accepted: 1 to %d", c.Jobs, MaxJobs)
	}
	return nil
}

// Measure builds a grid and runs one round over it. It uses the machine's clock only to
// measure durations. ok is false if the round took longer than limit and was stopped.
func Measure(
	ctx context.Context, c Case, clock func() time.Duration, limit time.Duration,
) (row Row, ok bool, err error) {
	g, err := NewGrid(c.Sites, c.Jobs, c.Seed)
	if err != nil {
		return Row{}, false, err
	}
	config := reallocation.Default
	config.Algorithm, config.Heuristic, config.Window = c.Algorithm, c.Heuristic, c.Window
	before := heap()
	begin := clock()
	round := reallocation.NewRound(config, c.Sites, g.view(c.Alike), nil)
	var steps time.Duration
	ok = true
	for step := range round.Steps() {
		at := clock()
		if at-begin > limit || ctx.Err() != nil {
			ok = false
			break
		}
		g.carryOut(step)
		steps += clock() - at
	}
	total := clock() - begin
	row = Row{Case: c, Record: round.Record(), Total: total, Own: total - steps}
	if after := heap(); after > before {
		row.Heap = after - before
	}
	runtime.KeepAlive(round)
	runtime.KeepAlive(g)
	return row, ok, ctx.Err()
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// view is the grid as a round sees it. Jobs of a width are alike.
func (g *Grid) view(alike bool) []reallocation.Job {
	jobs := make([]reallocation.Job, len(g.jobs))
	for i := range g.jobs {
		shape := &g.jobs[i].shape[0]
		jobs[i] = reallocation.Job{Site: g.jobs[i].site, Width: shape.Width, Walltime: shape.Walltime}
		if alike {
			jobs[i].Like, jobs[i].Size = int(shape.Width), int64(shape.Walltime)
		}
	}
	return jobs
}

// Schema names the columns of a table; it changes when they do.
const Schema = "drover.sim.rounds/1"

// Columns are those of a table.
var Columns = []string{
	"schema", "sites", "jobs", "algorithm", "heuristic", "window", "alike", "seconds", "own_seconds", "heap_bytes",
	"asks", "questions", "estimates", "moves",
}

// Table writes rows as CSV.
type Table struct{ to *csv.Writer }

// NewTable writes the head.
func NewTable(w io.Writer) (*Table, error) {
	t := &Table{to: csv.NewWriter(w)}
	return t, t.write(Columns)
}

// Write writes a row, at once: the next one may take minutes.
func (t *Table) Write(r *Row) error {
	return t.write([]string{
		Schema, strconv.Itoa(r.Sites), strconv.Itoa(r.Jobs), r.Algorithm.String(), r.Heuristic.String(),
		r.Window.String(), strconv.FormatBool(r.Alike), seconds(r.Total), seconds(r.Own),
		strconv.FormatUint(r.Heap, 10), strconv.Itoa(r.Record.Asks), strconv.Itoa(r.Record.Questions),
		strconv.FormatInt(r.Record.Estimates, 10), strconv.Itoa(r.Record.Moves),
	})
}

func (t *Table) write(record []string) error {
	if err := t.to.Write(record); err != nil {
		return err
	}
	t.to.Flush()
	return t.to.Error()
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d.Seconds(), 1e-6), 'f', 6, 64)
}

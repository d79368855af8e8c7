package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// narrow has two sites that run one job at a time and never break a promise.
var narrow = map[string]string{
	"lyon":  "nodes: [{processors: 1}]\npolicy: {name: cbf}\n",
	"nancy": "nodes: [{processors: 1}]\npolicy: {name: cbf}\n",
}

// stream is a set of jobs at two sites. Half of them wait behind a long job at one site, while
// the jobs at the other site end early.
type stream struct {
	grid    *grid
	client  *client.Client
	opened  string   // a file; the job at nancy runs until it exists
	busy    []string // the jobs that run at lyon and at nancy
	waiting []string // in order of submission: at lyon, at nancy, at lyon, ...
	order   string   // the file to which jobs append their IDs as they end
}

// long is the runtime of the job that keeps lyon busy.
const long = 15 * time.Second

// newStream fills a grid. The program lyon keeps that site busy. All walltimes are ten minutes,
// and all jobs end much earlier.
func newStream(t *testing.T, g *grid, waiting int, lyon string) *stream {
	t.Helper()
	dir := t.TempDir()
	s := &stream{grid: g, opened: filepath.Join(dir, "opened"), order: filepath.Join(dir, "order")}
	var err error
	if s.client, err = client.New(client.Default(g.agent)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	run := func(program string, seconds int) string {
		argv, err := json.Marshal([]string{"sh", "-c", program + `; echo "$DROVER_JOB_ID" >> "$0"`, s.order})
		if err != nil {
			t.Fatal(err)
		}
		return g.must(t, cmdline.ExitOK, "submit", "exec", "argv="+string(argv), fmt.Sprintf("seconds=%d", seconds))
	}
	gated := "until [ -e " + s.opened + " ]; do sleep 0.02; done"
	if lyon == "" {
		lyon = gated
	}
	s.busy = append(s.busy, run(lyon, 600), run(gated, 610))
	for range waiting {
		s.waiting = append(s.waiting, run("sleep 0.1", 600))
	}
	for i, id := range append(slices.Clone(s.busy), s.waiting...) {
		if j := s.job(t, id); j.Site != []string{"lyon", "nancy"}[i%2] {
			t.Fatalf("job %d of the stream is at %s", i, j.Site)
		}
	}
	return s
}

func (s *stream) job(t *testing.T, id string) *client.Job {
	t.Helper()
	j, err := s.client.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// open lets the job at nancy end.
func (s *stream) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(s.opened, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// done waits until jobs are done, and returns them.
func (s *stream) done(t *testing.T, ids ...string) []*client.Job {
	t.Helper()
	var jobs []*client.Job
	for _, id := range ids {
		j, err := s.client.Wait(t.Context(), id)
		if err != nil || j.State != client.Done {
			t.Fatalf("job %s: %+v, %v", id, j, err)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// ended returns the jobs in the order in which they ended.
func (s *stream) ended(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(s.order)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// every returns the jobs at even or odd positions.
func every(ids []string, odd int) (list []string) {
	for i := odd; i < len(ids); i += 2 {
		list = append(list, ids[i])
	}
	return list
}

// reallocate runs drover reallocate and returns its JSON output.
func (g *grid) reallocate(t *testing.T, args ...string) *droverv1.ReallocateResponse {
	t.Helper()
	return decode(t, g.must(t, cmdline.ExitOK, append([]string{"--json", "reallocate"}, args...)...),
		&droverv1.ReallocateResponse{})
}

func meanResponse(jobs []*client.Job) time.Duration {
	var sum time.Duration
	for _, j := range jobs {
		sum += j.Ended.Sub(j.Submitted)
	}
	return sum / time.Duration(len(jobs))
}

// TestWaitingJobsMoveToASiteThatEmptiesEarly runs the same stream of real processes with and
// without a round of reallocation.
func TestWaitingJobsMoveToASiteThatEmptiesEarly(t *testing.T) {
	const waiting = 6
	var mu sync.Mutex
	response := make(map[bool]time.Duration)
	t.Run("streams", func(t *testing.T) {
		for _, with := range []bool{true, false} {
			t.Run(fmt.Sprintf("reallocation=%v", with), func(t *testing.T) {
				t.Parallel()
				s := newStream(t, startGridOf(t, narrow), waiting, fmt.Sprintf("sleep %v", long.Seconds()))
				s.open(t)
				s.done(t, every(s.waiting, 1)...) // nancy is idle now
				stuck := every(s.waiting, 0)
				if with {
					s.leave(t, stuck)
				}
				all := s.done(t, append(slices.Clone(s.busy), s.waiting...)...)
				ended := s.ended(t)
				if last := slices.Index(ended, s.busy[0]) == len(ended)-1; last != with || len(ended) != waiting+2 {
					t.Errorf("the long job ended last: %v; order of the ends: %v", last, ended)
				}
				for _, id := range stuck {
					if at := s.job(t, id).Site; (at == "nancy") != with {
						t.Errorf("job %s ran at %s", id, at)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				response[with] = meanResponse(all)
			})
		}
	})
	t.Logf("mean response time: %v with reallocation, %v without", response[true], response[false])
	// Three of eight jobs do not wait for the long job. The margin is for slow machines.
	if gain := response[false] - response[true]; gain < long/10 {
		t.Errorf("the mean response time improves by only %v", gain)
	}
}

// leave moves the jobs that wait at lyon to nancy. By their walltimes, two of them gain more than
// a minute; when these are done, the last one does too.
func (s *stream) leave(t *testing.T, stuck []string) {
	t.Helper()
	queue := func() string { return s.grid.must(t, cmdline.ExitOK, "--json", "queue") }
	before := queue()
	dry := s.grid.reallocate(t, "--dry-run")
	if d := cmp.Diff(before, queue()); d != "" {
		t.Errorf("a dry run changed jobs: %s", d)
	}
	for _, leave := range [][]string{{stuck[0], stuck[2]}, {stuck[1]}} {
		real := s.grid.reallocate(t)
		var moved []string
		for _, j := range real.GetJobs() {
			moved = append(moved, j.GetJobId())
			if !j.GetOrdered() || j.GetFrom() != "lyon" || j.GetTo() != "nancy" ||
				j.GetGain().AsDuration() < 500*time.Second {
				t.Errorf("%+v", j)
			}
		}
		if d := cmp.Diff(leave, moved); d != "" {
			t.Fatalf("moved jobs: %s", d)
		}
		if dry != nil {
			s.compare(t, dry, real)
			dry = nil
		}
		for _, j := range s.done(t, leave...) {
			if len(j.Moves) != 1 || !strings.HasPrefix(j.Moves[0].Reason, "reallocation (regular, mct): ") ||
				j.Moves[0].Agent != "agent" ||
				j.Moves[0].PredictedGain == nil || j.Moves[0].MinGain == nil || *j.Moves[0].MinGain != time.Minute {
				t.Errorf("%s was moved: %+v", j.ID, j.Moves)
			}
		}
	}
	if shown := s.grid.must(t, cmdline.ExitOK, "moves", "--state", "moved"); strings.Count(shown,
		"reallocation (regular, mct): ") != len(stuck) {
		t.Errorf("the moves are %s", shown)
	}
	if s.job(t, s.busy[0]).State.Final() {
		t.Error("the long job ended before the jobs behind it had moved: the machine is too slow")
	}
}

// compare fails the test unless a dry run predicts the round that follows it.
func (s *stream) compare(t *testing.T, dry, real *droverv1.ReallocateResponse) {
	t.Helper()
	if !dry.GetRecord().GetDryRun() || real.GetRecord().GetDryRun() || len(dry.Jobs) != len(real.Jobs) {
		t.Fatalf("the dry run: %+v, the round: %+v", dry, real)
	}
	for i, d := range dry.GetJobs() {
		r := real.GetJobs()[i]
		off := (d.GetGain().AsDuration() - r.GetGain().AsDuration()).Abs()
		if d.GetOrdered() || d.GetJobId() != r.GetJobId() || d.GetTo() != r.GetTo() || off > long {
			t.Errorf("the dry run: %+v, the round: %+v", d, r)
		}
	}
}

// TestTwoAgentsRunConcurrentRounds runs rounds of all kinds over the same jobs.
func TestTwoAgentsRunConcurrentRounds(t *testing.T) {
	t.Parallel()
	g := startGridOf(t, narrow)
	cfg := agent.Default()
	cfg.Name, cfg.Listen, cfg.Gossip.Bind, cfg.Gossip.Seeds, cfg.Reallocation.Period = "other", "127.0.0.1:0",
		"127.0.0.1:0", []string{g.seed}, "off"
	second, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- second.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	other := &grid{agent: second.URL()}
	other.await(t, 2)
	s := newStream(t, g, 16, "")
	for _, id := range every(s.waiting, 1) { // now nancy has free capacity
		g.must(t, cmdline.ExitOK, "cancel", id)
	}
	s.waiting = every(s.waiting, 0)
	var wg sync.WaitGroup
	for _, from := range []*grid{g, other} {
		wg.Go(func() {
			for i := range 6 {
				algorithm, heuristic := "regular", []string{
					"mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain",
				}[i]
				if i%2 == 0 {
					algorithm = "all-cancellation"
				}
				from.reallocate(t, "--algorithm", algorithm, "--heuristic", heuristic, "--window", "all", "--threshold",
					"0s")
			}
		})
	}
	wg.Wait()
	if shown := g.must(t, cmdline.ExitOK, "moves", "--state", "moved"); !strings.Contains(shown, "reallocation (") {
		t.Errorf("no job moved: %s", shown)
	}
	s.open(t)
	all := append(slices.Clone(s.busy), s.waiting...)
	s.done(t, all...)
	got := s.ended(t)
	slices.Sort(got)
	slices.Sort(all)
	if d := cmp.Diff(all, got); d != "" {
		t.Errorf("executed jobs: %s", d)
	}
}

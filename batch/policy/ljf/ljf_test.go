package ljf_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
	"github.com/seed-9b8f70bb/drover/server"
	"github.com/seed-9b8f70bb/drover/sim"
)

func TestMain(m *testing.M) {
	nodetest.Main(nil)
	policy.Register(policy.Entry{
		Name: "ljf", Summary: "longest job first, without backfilling", New: New, Queue: true, Reserves: true,
	})
	goleak.VerifyTestMain(m)
}

// trace writes a file of jobs: number, submission, runtime, width and walltime each.
func trace(t *testing.T, file string, jobs ...[5]int) {
	t.Helper()
	var lines strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&lines, "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 -1 1 1 -1 -1\n", j[0], j[1], j[2], j[3], j[3], j[4])
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// schedule lists the jobs of a run by start: number, site, start and end in seconds.
func schedule(r *sim.Result) string {
	type row struct {
		start int64
		text  string
	}
	var rows []row
	for i, o := range r.Outcomes {
		start, end := int64(o.Start)/1e6, int64(o.End)/1e6
		rows = append(rows, row{start, fmt.Sprintf("%d@%s:%d-%d", r.Workload.Jobs[i].ID, r.Summary.Sites[o.Site].Name,
			start, end)})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.start, b.start) })
	var texts []string
	for _, r := range rows {
		texts = append(texts, r.text)
	}
	return strings.Join(texts, " ")
}

func TestItRunsOnOneCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.swf")
	trace(t, file, [5]int{1, 0, 100, 2, 100}, [5]int{2, 1, 10, 1, 10}, [5]int{3, 2, 50, 2, 50}, [5]int{4, 3, 60, 1, 60})
	r, err := (&sim.Single{Trace: file, Procs: 2, Policy: "ljf"}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = "1@site:0-100 4@site:100-160 3@site:160-210 2@site:210-220"
	if got := schedule(r); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Site b was planned as busy until 1050, but is empty at 90: both waiting jobs move there.
func TestSitesUnderItAreMappedToAndReallocated(t *testing.T) {
	dir := t.TempDir()
	trace(t, filepath.Join(dir, "g.swf"), [5]int{1, 0, 1000, 4, 1000}, [5]int{3, 10, 100, 4, 100},
		[5]int{4, 20, 200, 4, 200})
	trace(t, filepath.Join(dir, "b.swf"), [5]int{2, 0, 90, 4, 1050})
	s, err := sim.ParseScenario(strings.NewReader(`version: 1
mapping: mct
sites:
  - {name: a, procs: 4, policy: ljf, trace: g.swf}
  - {name: b, procs: 4, policy: ljf, trace: b.swf, local: true}
reallocation: {period: 100s}
`), "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), filepath.Join(dir, "s.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "1@a:0-1000 2@b:0-90 3@b:100-200 4@b:200-400"
	if got := schedule(r); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if f := r.Summary.Reallocation; f == nil || f.Moves != 2 {
		t.Errorf("reallocation: %+v", f)
	}
}

// running starts an agent and a server under the policy, and returns a client of them.
func running(t *testing.T, dir string) *client.Client {
	t.Helper()
	var processes sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		processes.Wait()
	})
	begin := func(run func(context.Context) error) {
		processes.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	ac := agent.Default()
	ac.Listen, ac.Gossip.Bind, ac.Reallocation.Period = "127.0.0.1:0", "127.0.0.1:0", "off"
	ac.Logger = hclog.NewNullLogger()
	a, err := agent.New(ac)
	if err != nil {
		t.Fatal(err)
	}
	begin(a.Run)
	sc, err := server.ParseConfig([]byte(`version: 1
name: lyon
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0, seeds: ['`+a.Seed()+`']}
data_dir: `+filepath.Join(dir, "data")+`
nodes: [{processors: 2}]
policy: {name: ljf}
on_stop: end
grace: 1s
services:
  inline:
    - name: await
      doc: Waits for a file.
      args: [{name: file, type: string}]
      command: [sh, -c, 'until [ -e "$0" ]; do sleep 0.02; done', "{file}"]
      model: {fixed: {width: 2, time: 60s}}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	sc.Logger = hclog.NewNullLogger()
	s, err := server.New(sc)
	if err != nil {
		t.Fatal(err)
	}
	begin(s.Run)
	c, err := client.New(client.Default(a.URL()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestALiveServerStartsTheLongestJobFirst(t *testing.T) {
	dir := t.TempDir()
	c := running(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	blocked := filepath.Join(dir, "go")
	submit := func(file string, walltime time.Duration) string {
		t.Helper()
		j, err := c.Submit(ctx, "await", client.String("file", file), client.Walltime(walltime))
		if err != nil {
			t.Fatal(err)
		}
		if j.EstimateKind == "" {
			t.Errorf("job %s has no estimate: %+v", j.ID, j)
		}
		return j.ID
	}
	first := submit(blocked, time.Minute)
	short, long := submit(blocked, 10*time.Minute), submit(blocked, time.Hour)
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	started := func(id string) time.Time {
		t.Helper()
		j, err := c.Wait(ctx, id)
		if err != nil || j.State != client.Done {
			t.Fatalf("%+v, %v", j, err)
		}
		return j.Started
	}
	if a, b, c := started(first), started(long), started(short); !a.Before(b) || !b.Before(c) {
		t.Errorf("started at %v, %v and %v: want the long job before the short one", a, b, c)
	}
}

func TestTheGuideAddsThisVeryPolicy(t *testing.T) {
	guide, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("policy_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(guide), "```go\n")
	block, _, _ := strings.Cut(after, "```")
	_, block, found := strings.Cut(block, "package ljf\n")
	_, block, _ = strings.Cut(block, ")\n\n") // imports
	if !found || !strings.HasSuffix(string(code), block) {
		t.Errorf("CONTRIBUTING.md shows another policy than policy_test.go:\n%s", block)
	}
}

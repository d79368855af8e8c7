package sim_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim"
)

// randomTrace is a trace of jobs up to a width that keep a machine of this width
// busy, with submissions that share an instant.
func randomTrace(seed uint64, jobs, widest int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var s strings.Builder
	for i, now := 0, 1000; i < jobs; i++ {
		now += max(0, random.IntN(240)-80)
		run := random.IntN(200)
		s.WriteString(rigid(i+1, now, run, 1+random.IntN(widest), max(1, run*(5+random.IntN(10))/10)))
	}
	return s.String()
}

// TestOutputIsReproducible also on another number of cores.
func TestOutputIsReproducible(t *testing.T) {
	dir := files(t, map[string]string{
		"a.swf": randomTrace(1, 300, 16), "b.swf": randomTrace(2, 300, 24), "c.swf": randomTrace(3, 300, 32),
		"grid.yaml": `version: 1
mapping: mct
sites:
  - {name: a, trace: a.swf, procs: 16, speed: 1.0, policy: easy}
  - {name: b, trace: b.swf, procs: 24, speed: 1.2, policy: cbf}
  - {name: c, trace: c.swf, procs: 32, speed: 1.4, policy: fcfs}
`,
	})
	runs := map[string]func() (*sim.Result, error){
		"grid": func() (*sim.Result, error) {
			path := filepath.Join(dir, "grid.yaml")
			s, err := sim.ReadScenario(path)
			if err != nil {
				return nil, err
			}
			return s.Run(context.Background(), path, nil)
		},
	}
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		runs[policy] = func() (*sim.Result, error) {
			s := sim.Single{Trace: filepath.Join(dir, "c.swf"), Procs: 32, Policy: policy, Places: true}
			return s.Run(context.Background())
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, run := range runs {
		var summary, jobs []byte
		for _, cores := range []int{1, 2, 1, 2} {
			runtime.GOMAXPROCS(cores)
			r, err := run()
			if err != nil {
				t.Fatal(err)
			}
			s, j := output(t, r)
			if summary == nil {
				summary, jobs = s, j
				used := map[int32]bool{}
				for _, o := range r.Outcomes {
					used[o.Site] = true
				}
				if len(used) != len(r.Summary.Sites) || r.Summary.WaitMean == 0 || r.Summary.Killed == 0 {
					t.Errorf("%s: a run that shows little: %d sites used, mean wait %v, %d killed", name, len(used),
						r.Summary.WaitMean, r.Summary.Killed)
				}
			}
			if !bytes.Equal(s, summary) || !bytes.Equal(j, jobs) {
				t.Errorf("%s on %d cores: other bytes than before", name, cores)
			}
		}
	}
}

package campaign

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parsed returns a campaign with known scenarios.
func parsed(t testing.TB, text string) *Campaign {
	t.Helper()
	p := parser{find: anyScenario}
	c, err := p.parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func anyScenario(name string) (Scenario, *config.FieldError) {
	if name == "" {
		return Scenario{}, &config.FieldError{Value: name, Accepted: "a name"}
	}
	return Scenario{Name: name, Text: []byte("text of " + name)}, nil
}

// small has 4 references and 16 experiments.
const small = `version: 1
name: small
scenarios: [a, b]
seeds: 1..2
algorithms: [regular, all-cancellation]
heuristics: [mct, minmin]
`

// fake is a runner that computes its figures from the experiment.
type fake struct {
	salt string // changes what comes out
	// before is called as an experiment begins; its error is the experiment's.
	before func(ctx context.Context, e *Experiment) error
	files  map[string]string // the trace of each scenario, if it has one

	mu       sync.Mutex
	prepared map[string]int // how often each scenario was
	ran      []string       // the experiments, in the order in which they began
}

type fakeScenario struct {
	*fake
	name string
}

func (f *fake) traces(s *Scenario) ([]sim.TraceFile, error) {
	path := f.files[s.Name]
	if path == "" {
		return nil, nil
	}
	return []sim.TraceFile{{Name: filepath.Base(path), Path: path}}, nil
}

func (f *fake) prepare(_ context.Context, s *Scenario, _ int) (prepared, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.prepared == nil {
		f.prepared = map[string]int{}
	}
	f.prepared[s.Name]++
	return &fakeScenario{f, s.Name}, nil
}

func (f *fakeScenario) run(
	ctx context.Context, e *Experiment, reference *sim.Result,
) (*sim.Result, sim.Comparison, error) {
	f.mu.Lock()
	f.ran = append(f.ran, e.String())
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(ctx, e); err != nil {
			return nil, sim.Comparison{}, err
		}
	}
	group := fmt.Sprint(e.Key[:5])
	result := &sim.Result{Summary: sim.Summary{Schema: group}}
	if e.Key[0] != f.name || e.Reference != (reference == nil) ||
		reference != nil && reference.Summary.Schema != group {
		return nil, sim.Comparison{}, fmt.Errorf("%v is run in scenario %s with reference %v", e, f.name, reference)
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, f.salt, e.Key) // a hash never fails
	n := int(h.Sum32())
	return result, sim.Comparison{
		Jobs: 10, GridJobs: n % 7, Impacted: n % 3, ResponseMean: float64(n%1000) / 7, RelativeResponse: 0.5,
	}, nil
}

// counter is a clock that advances by a second at each call.
func counter() func() time.Duration {
	var mu sync.Mutex
	var n time.Duration
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		n += time.Second
		return n
	}
}

func options(dir string, r runner) Options {
	return Options{Dir: dir, Workers: 2, Clock: counter(), runner: r}
}

// mustRun runs a campaign to its end and returns results.csv.
func mustRun(t testing.TB, c *Campaign, o Options) string {
	t.Helper()
	if _, err := Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	return fileText(t, o.Dir, ResultsName)
}

func fileText(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

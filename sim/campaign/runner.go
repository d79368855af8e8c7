package campaign

import (
	"context"

	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/sim"
)

// runner is what carries out experiments.
type runner interface {
	// traces finds the traces of a scenario.
	traces(s *Scenario) ([]sim.TraceFile, error)
	// prepare reads what all experiments of a scenario share.
	prepare(ctx context.Context, s *Scenario, days int) (prepared, error)
}

// prepared is a scenario that is ready; many experiments may run at once.
type prepared interface {
	// run runs an experiment and compares it with a reference, or with itself if that
	// is nil.
	run(ctx context.Context, e *Experiment, reference *sim.Result) (*sim.Result, sim.Comparison, error)
}

// simulator is the runner that is none of a test.
type simulator struct{}

func (simulator) traces(s *Scenario) ([]sim.TraceFile, error) { return s.Grid.TraceFiles(s.Path) }

func (simulator) prepare(ctx context.Context, s *Scenario, days int) (prepared, error) {
	grid := s.Grid
	if days > 0 {
		grid = grid.FirstDays(days)
	}
	p, err := grid.Prepare(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	return &simulated{p, grid.Variant().Local}, nil
}

// simulated is a scenario that the simulator runs.
type simulated struct {
	scenario *sim.Prepared
	local    sim.Fraction // of the scenario itself
}

func (s *simulated) run(ctx context.Context, e *Experiment, reference *sim.Result) (*sim.Result, sim.Comparison, error) {
	v := sim.Variant{Seed: e.Seed, Homogeneous: e.Homogeneous, Tuning: e.Tuning.String()}
	if !e.Dedicated {
		if v.Local = s.local; v.Local.IsZero() {
			v.Local = sim.PaperLocal
		}
	}
	if !e.Reference {
		r := &e.Reallocation
		v.Reallocation = &sim.Reallocation{
			Algorithm: r.Algorithm.String(), Heuristic: r.Heuristic.String(), Window: r.Window.String(),
			Period: durationText(r.Period), Threshold: durationText(r.Threshold), Patience: reallocation.PatienceText(r.Patience),
		}
	}
	result, err := s.scenario.Run(ctx, v, nil)
	if err != nil {
		return nil, sim.Comparison{}, err
	}
	if reference == nil {
		reference = result
	}
	c, err := sim.Compare(reference, result)
	return result, c, err
}

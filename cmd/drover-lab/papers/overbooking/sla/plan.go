package sla

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Trace is a log and the processors of its machine.
type Trace struct {
	Name, File string
	Procs      int32
}

// Traces are the logs of Plan.Load.
var Traces = []Trace{
	{"KTH", "KTH-SP2-1996-2.swf.gz", 100},
	{"SDSC", "SDSC-SP2-1998-4.2-cln.swf.gz", 128},
	{"CTC", "CTC-SP2-1996-3.1-cln.swf.gz", 338},
	{"HPC2N", "HPC2N-2002-2.2-cln.swf.gz", 240},
}

// Way is a way to overbook.
type Way struct {
	Name       string
	Settings   batch.Settings // without maxPoF
	Checkpoint int            // thousandths of the jobs that can be checkpointed
}

// Ways are those of the experiments. The first one is Drover's default.
var Ways = []Way{
	{Name: "empirical"},
	{Name: "uniform", Settings: batch.Settings{"distribution": "uniform"}},
	{Name: "needed", Settings: batch.Settings{"when": "needed"}},
	{Name: "checkpoints", Checkpoint: 1000},
}

// Plan says which experiments there are: all combinations.
type Plan struct {
	Traces []Trace
	Slacks []int    // see Demand
	MaxPoF []string // the setting; the first one is 0
	Ways   []Way
	Seeds  []uint64
	Jobs   int // so many of each trace, the first ones; 0: all

	loaded []*sim.Workload
}

// Full and Quick are the plans of the experiments, without their traces.
var (
	Full = Plan{
		Slacks: []int{250, 1000, 4000}, Ways: Ways, Seeds: []uint64{1, 2},
		MaxPoF: []string{"0", "0.02", "0.05", "0.1", "0.15", "0.2", "0.3", "0.4", "0.5", "0.75", "1"},
	}
	Quick = Plan{
		Slacks: []int{1000}, Ways: Ways, Seeds: []uint64{1}, Jobs: 4000,
		MaxPoF: []string{"0", "0.1", "0.3", "0.5", "1"},
	}
)

// Fixed and Later are the demand's shares in all experiments.
const (
	Fixed = 50
	Later = 500
)

// NoTraceError says that none of the traces is there.
type NoTraceError struct{ Missing error }

// Error is that of the first trace that was looked for.
func (e *NoTraceError) Error() string { return fmt.Sprintf("none of the logs is there: %v", e.Missing) }

// Unwrap returns it.
func (e *NoTraceError) Unwrap() error { return e.Missing }

// Load reads those of the traces that are there, and returns the names of the others.
// The error is a *NoTraceError if that is all.
func (p *Plan) Load(traces []Trace) (missing []string, err error) {
	var first error
	for _, t := range traces {
		path, err := swf.FindTrace(t.File)
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, t.Name)
			if first == nil {
				first = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		log, err := swf.ReadFile(path)
		if err != nil {
			return nil, err
		}
		p.add(t, sim.FromTrace(log, t.Procs))
	}
	if len(p.Traces) == 0 {
		return missing, &NoTraceError{first}
	}
	return missing, nil
}

func (p *Plan) add(t Trace, w *sim.Workload) {
	if p.Jobs > 0 {
		w.Jobs = w.Jobs[:min(p.Jobs, len(w.Jobs))]
	}
	p.Traces, p.loaded = append(p.Traces, t), append(p.loaded, w)
}

// Case is one experiment.
type Case struct {
	Trace  string
	Procs  int32
	Slack  int
	Way    string
	MaxPoF string
	Seed   uint64

	demand   Demand
	settings batch.Settings
	workload *sim.Workload
}

// Cases returns the plan's experiments in an order of their own.
func (p *Plan) Cases() []Case {
	var all []Case
	for i, t := range p.Traces {
		for _, slack := range p.Slacks {
			for _, way := range p.Ways {
				for _, pof := range p.MaxPoF {
					for _, seed := range p.Seeds {
						settings := maps.Clone(way.Settings)
						if settings == nil {
							settings = batch.Settings{}
						}
						settings["maxPoF"] = pof
						all = append(all, Case{
							Trace: t.Name, Procs: t.Procs, Slack: slack, Way: way.Name, MaxPoF: pof, Seed: seed,
							demand: Demand{
								Fixed: Fixed, Later: Later, Slack: slack, Checkpoint: way.Checkpoint, Seed: seed,
							},
							settings: settings, workload: p.loaded[i],
						})
					}
				}
			}
		}
	}
	return slices.Clip(all)
}

package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// Single is a run of one policy on one machine with one trace.
type Single struct {
	Trace    string // path of an SWF file, gz too, or the name of one among the traces
	Procs    int64
	Policy   string
	Settings batch.Settings
	Overrun  Overrun
	// Node is how many processors each machine has under the policy convergent, which
	// gives one to one job; 0: one.
	Node int64
	// PassEachEvent makes a scheduling pass after every single event instead of
	// one for all events of an instant, as some simulators do. It is for
	// comparing with them, and for policies that do not plan.
	PassEachEvent bool
	// Penalty is for how long a job that is resumed or migrated does nothing.
	Penalty  batch.Duration
	Places   bool // keep which processors each job had
	Progress func(done, total int)
}

// Validate reports everything that is wrong, each with its flag.
func (s *Single) Validate() error {
	var errs []error
	if s.Procs < 1 || s.Procs > batch.MaxProcessors {
		errs = append(errs, fmt.Errorf("procs: %d, accepted: 1..%d", s.Procs, batch.MaxProcessors))
	} else if _, err := policy.New(s.Policy, batch.Processors(1), s.Settings); err != nil {
		errs = append(errs, err)
	}
	switch {
	case s.Node != 0 && s.Policy != convergent:
		errs = append(errs, fmt.Errorf("node: %d with policy %s, accepted: with %s, whose jobs have a machine each", s.Node, s.Policy, convergent))
	case s.Node < 0 || s.Node > 0 && s.Procs%s.Node != 0:
		errs = append(errs, fmt.Errorf("node: %d, accepted: 1 or more, so many that %d processors are whole machines", s.Node, s.Procs))
	}
	if s.PassEachEvent && s.Policy != "easy" && s.Policy != "fcfs" {
		errs = append(errs, fmt.Errorf("passes: event with policy %s, accepted: event with fcfs and easy, which do not plan", s.Policy))
	}
	if s.Penalty < 0 {
		errs = append(errs, fmt.Errorf("penalty: %v, accepted: 0s or more", s.Penalty))
	}
	return errors.Join(errs...)
}

// Run reads the trace and replays it.
func (s *Single) Run(ctx context.Context) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	trace, err := openTrace(s.Trace, s.Trace)
	if err != nil {
		return nil, err
	}
	return s.Replay(ctx, FromTrace(trace, s.widest()))
}

// Replay is Run with jobs that have been read already. It does not change them.
func (s *Single) Replay(ctx context.Context, w *Workload) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	procs := int32(s.Procs)
	policy, err := policy.New(s.Policy, s.machine(), s.Settings)
	if err != nil {
		return nil, err
	}
	c := Cluster{Policy: policy, Overrun: s.Overrun, PassEachEvent: s.PassEachEvent, Penalty: s.Penalty, Shared: ownPlaces(s.Policy)}
	if s.Progress != nil {
		c.Progress = func(done int) { s.Progress(done, len(w.Jobs)) }
	}
	if s.Places {
		c.Places = NewPlaces(s.Policy, procs)
	}
	outcomes, err := c.Run(ctx, w)
	if err != nil {
		return nil, err
	}
	figures, tuning := measure(w, outcomes, s.Procs, nil), selfTuning(policy)
	return &Result{
		Summary: Summary{
			Schema: SummarySchema, Figures: figures, SelfTuning: tuning,
			Sites: []SiteSummary{{Name: "site", Policy: s.Policy, Processors: procs, Speed: "1", Figures: figures, SelfTuning: tuning}},
		},
		Workload: w, Outcomes: outcomes,
	}, nil
}

// Run reads the traces of a scenario, found from the folder of its file, and
// replays them. Progress may be nil.
func (s *Scenario) Run(ctx context.Context, file string, progress func(done, total int)) (*Result, error) {
	p, err := s.Prepare(ctx, file)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, s.Variant(), progress)
}

// widest returns the width of the widest job that can run.
func (s *Single) widest() int32 {
	if s.Policy == convergent {
		return int32(max(s.Node, 1))
	}
	return int32(s.Procs)
}

// machine returns the cluster.
func (s *Single) machine() batch.Platform {
	if s.Policy != convergent {
		return machine(s.Policy, int32(s.Procs))
	}
	p := batch.Processors(int32(s.Procs) / s.widest())
	for i := range p.Nodes {
		p.Nodes[i].Processors = s.widest()
	}
	return p
}

// dfrs is the policy whose jobs share processors, convergent the one whose jobs have
// machines. They say themselves where jobs are, and pause them.
const (
	dfrs       = "dfrs"
	convergent = "convergent"
)

func ownPlaces(policy string) bool { return policy == dfrs || policy == convergent }

// machine is a machine of so many processors to policies that only count them:
// one node, because a node for each would be most of what a large machine costs.
// To others each processor is a node.
func machine(policy string, procs int32) batch.Platform {
	if policy == dfrs {
		return batch.Processors(procs)
	}
	return batch.Platform{Nodes: []batch.Node{{Processors: procs}}}
}

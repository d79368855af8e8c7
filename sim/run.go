package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// Single is a run of one policy on one machine with one trace.
type Single struct {
	Trace    string // path of an SWF file, possibly gzipped, or the name of one among the traces
	Procs    int64
	Policy   string
	Settings batch.Settings
	Overrun  Overrun
	// Node is the number of processors of a machine, under a policy that gives each machine to
	// one job; 0: one.
	Node int64
	// PassEachEvent makes a scheduling pass after every event instead of one for all events of
	// an instant, as some simulators do. It is for comparisons with them, and for policies that
	// do not plan.
	PassEachEvent bool
	// Penalty is the time in which a resumed or migrated job makes no progress.
	Penalty  batch.Duration
	Places   bool // record the processors of each job
	Progress func(done, total int)
}

// Validate reports all problems, each with its flag.
func (s *Single) Validate() error {
	var errs []error
	traits := policy.Of(s.Policy)
	if s.Procs < 1 || s.Procs > batch.MaxProcessors {
		errs = append(errs, fmt.Errorf("procs: %d, accepted: 1..%d", s.Procs, batch.MaxProcessors))
	} else if _, err := policy.New(s.Policy, batch.Processors(1), s.Settings); err != nil {
		errs = append(errs, err)
	}
	switch {
	case s.Node != 0 && !traits.Machines:
		errs = append(errs, fmt.Errorf("node: %d with policy %s, accepted: with %s, whose jobs have a machine each",
			s.Node,
			s.Policy, named(machines)))
	case s.Node < 0 || s.Node > 0 && s.Procs%s.Node != 0:
		errs = append(errs, fmt.Errorf("node: %d, accepted: 1 or more, so many that %d processors are whole machines",
			s.Node, s.Procs))
	}
	if s.PassEachEvent && !traits.Queue {
		errs = append(errs, fmt.Errorf("passes: event with policy %s, accepted: event with %s, which do not plan",
			s.Policy,
			named(queues)))
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

// Replay is Run for jobs in memory. It does not change them.
func (s *Single) Replay(ctx context.Context, w *Workload) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	procs := int32(s.Procs)
	p, err := policy.New(s.Policy, s.machine(), s.Settings)
	if err != nil {
		return nil, err
	}
	c := Cluster{
		Policy: p, Overrun: s.Overrun, PassEachEvent: s.PassEachEvent, Penalty: s.Penalty,
		Shared: choosesNodes(s.Policy),
	}
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
	figures, tuning := measure(w, outcomes, s.Procs, nil), selfTuning(p)
	return &Result{
		Summary: Summary{
			Schema: SummarySchema, Figures: figures, SelfTuning: tuning,
			Sites: []SiteSummary{{
				Name: "site", Policy: s.Policy, Processors: procs, Speed: "1", Figures: figures,
				SelfTuning: tuning,
			}},
		},
		Workload: w, Outcomes: outcomes,
	}, nil
}

// Run reads the traces of a scenario, relative to the folder of its file, and replays them.
// Progress can be nil.
func (s *Scenario) Run(ctx context.Context, file string, progress func(done, total int)) (*Result, error) {
	p, err := s.Prepare(ctx, file)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, s.Variant(), progress)
}

// widest returns the width of the widest possible job.
func (s *Single) widest() int32 {
	if policy.Of(s.Policy).Machines {
		return int32(max(s.Node, 1))
	}
	return int32(s.Procs)
}

// machine returns the cluster.
func (s *Single) machine() batch.Platform {
	if !policy.Of(s.Policy).Machines {
		return machine(s.Policy, int32(s.Procs))
	}
	p := batch.Processors(int32(s.Procs) / s.widest())
	for i := range p.Nodes {
		p.Nodes[i].Processors = s.widest()
	}
	return p
}

// choosesNodes reports whether a policy chooses nodes and pauses jobs.
func choosesNodes(name string) bool {
	e := policy.Of(name)
	return e.Chooses()
}

func machines(e *policy.Entry) bool { return e.Machines }
func queues(e *policy.Entry) bool   { return e.Queue }

// named lists the policies with a trait.
func named(trait func(*policy.Entry) bool) string { return strings.Join(policy.Names(trait), ", ") }

// machine returns a machine of procs processors. For a policy that only counts processors it is
// a single node, because thousands of nodes would dominate the cost of a run; otherwise it has
// one node per processor.
func machine(name string, procs int32) batch.Platform {
	if policy.Of(name).Shares {
		return batch.Processors(procs)
	}
	return batch.Platform{Nodes: []batch.Node{{Processors: procs}}}
}

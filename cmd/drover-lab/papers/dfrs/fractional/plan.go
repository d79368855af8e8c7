package fractional

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Parts are the names of the parts of a Plan.
var Parts = []string{"2", "3", "4", "5", "figures"}

// Plan selects the runs.
type Plan struct {
	Sets  []string // of Sets
	Parts []string // of Parts
	// Algorithms, if not empty, replace the parts. Each runs with each of Periods.
	Algorithms []string
	Periods    []batch.Duration
	Beyond     bool // the settings of Beyond, too
	Penalty    batch.Duration
	Quick      bool // of a small part of each set
}

// NameError is an unknown set or part.
type NameError struct {
	Kind, Name string
	Accepted   []string
}

// Error lists the known names.
func (e *NameError) Error() string {
	return fmt.Sprintf("unknown %s %q, accepted: %s", e.Kind, e.Name, strings.Join(e.Accepted, ", "))
}

// Validate reports the first unknown name, a *NameError or what the policy says of an
// algorithm or a period. Algorithms are then written as the policy writes them.
func (p *Plan) Validate() error {
	for _, s := range p.Sets {
		if !slices.Contains(Sets, s) {
			return &NameError{"set", s, Sets}
		}
	}
	for _, s := range p.Parts {
		if !slices.Contains(Parts, s) {
			return &NameError{"table", s, Parts}
		}
	}
	for i, a := range p.Algorithms {
		name, err := Canonical(a)
		if err != nil {
			return err
		}
		p.Algorithms[i] = name
	}
	for _, d := range p.Periods {
		if _, err := dfrs.New(batch.Processors(1), batch.Settings{"period": d.String()}); err != nil {
			return err
		}
	}
	if p.Penalty < 0 || p.Penalty > MaxPenalty {
		return fmt.Errorf("penalty: %v, accepted: 0s..%v", p.Penalty, MaxPenalty)
	}
	return nil
}

// MaxPenalty is far above the duration of any migration.
const MaxPenalty = 1000 * batch.Hour

// Thrashing returns the periods of the plan at or below the penalty. With these, a job
// that is moved in every period makes no progress.
func (p *Plan) Thrashing() []batch.Duration {
	var all []batch.Duration
	for _, d := range p.Periods {
		if d <= p.Penalty && slices.ContainsFunc(p.Algorithms, Periodic) {
			all = append(all, d)
		}
	}
	return all
}

// wish is an algorithm with a period that is wanted of a set.
type wish struct {
	algorithm string
	period    batch.Duration
	from      int // the least load, of Scaled
}

// wishes returns those of a set, in order of importance.
func (p *Plan) wishes(set string) []wish {
	var all []wish
	add := func(period batch.Duration, from int, algorithms ...string) {
		for _, a := range algorithms {
			all = append(all, wish{a, period, from})
		}
	}
	has := func(part string) bool { return slices.Contains(p.Parts, part) }
	if len(p.Algorithms) > 0 {
		for _, d := range p.Periods {
			add(d, 0, p.Algorithms...)
		}
		return all
	}
	if set == Whole {
		if has("4") {
			add(Period, 0, Table4...)
		}
		return all
	}
	if has("2") {
		add(Period, 0, Table2...)
		add(Recommended, 0, Default)
		add(Period, 0, EquiPartition)
	}
	if has("4") {
		add(Period, 0, Table4...)
	}
	if has("figures") {
		add(Period, 0, EASY)
		for _, d := range Periods {
			add(d, 0, Default)
		}
	}
	if has("5") && set == HPC2N {
		add(Period, 0, FCFS, EASY)
		add(Period, 0, Table5()...)
	}
	if p.Beyond {
		add(Period, 0, Default)
		add(Recommended, 0, Default)
		add(Period, 0, Beyond...)
		add(Recommended, 0, Beyond...)
	}
	if has("3") && set == Scaled {
		add(Period, Table3Load, Table3...)
	}
	return all
}

// WithoutLog drops the sets that need the log and reports whether any set remains.
func (p *Plan) WithoutLog() bool {
	p.Sets = slices.DeleteFunc(slices.Clone(p.Sets), func(s string) bool { return s == HPC2N || s == Whole })
	return len(p.Sets) > 0
}

// Instances are the instances of a Plan's sets.
type Instances struct {
	sets   map[string][]*Instance
	bounds map[*Instance]func() (float64, error)
	// Digest is the log's SHA-256; "" if no set needs the log.
	Digest string
}

// Quick's part of each set.
const (
	quickWeek = 26 // one in so many
	quickSeed = 2  // the first ones
	quickLoad = 4  // one in so many, from the first one on
)

// Load builds the instances. The error can be a *swf.TraceNotFoundError, or a *JobError
// for a job of the log that its machine can never run.
func (p *Plan) Load(ctx context.Context) (*Instances, error) {
	all := &Instances{sets: map[string][]*Instance{}, bounds: map[*Instance]func() (float64, error){}}
	if slices.Contains(p.Sets, HPC2N) || slices.Contains(p.Sets, Whole) {
		if err := p.loadLog(all); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(p.Sets, Unscaled) && !slices.Contains(p.Sets, Scaled) {
		return all, nil
	}
	for seed := 1; seed <= Seeds && (!p.Quick || seed <= quickSeed); seed++ {
		in, err := Synthetic(ctx, seed)
		if err != nil {
			return nil, err
		}
		all.sets[Unscaled] = append(all.sets[Unscaled], in)
		for tenths := 1; tenths <= Loads; tenths++ {
			if !p.Quick || tenths%quickLoad == 1 {
				all.sets[Scaled] = append(all.sets[Scaled], in.Scale(tenths))
			}
		}
	}
	return all, nil
}

func (p *Plan) loadLog(all *Instances) error {
	path, err := swf.FindTrace(HPC2NFile)
	if err != nil {
		return err
	}
	log, err := swf.ReadFile(path)
	if err != nil {
		return err
	}
	if all.Digest, err = digest(path); err != nil {
		return err
	}
	for _, in := range Weeks(log) {
		if !p.Quick || in.Trace%quickWeek == 0 {
			all.sets[HPC2N] = append(all.sets[HPC2N], in)
		}
	}
	if !p.Quick {
		all.sets[Whole] = []*Instance{InOnePiece(log)}
	}
	for _, in := range slices.Concat(all.sets[HPC2N], all.sets[Whole]) {
		if err := in.Validate(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

package sim

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Limits of moldable types.
const (
	maxTypes     = 100
	maxLimit     = 1 << 16           // processors
	maxWholeDraw = 1_000_000_000_000 // common denominator of the shares
)

// Moldable draws a type for each parallel job of the traces. Without types it uses PaperTypes.
type Moldable struct {
	Types []MoldableType `yaml:"types"`
}

// MoldableType is a speedup by Amdahl's law up to a limit. Fractions are written 0.8 or 4/5.
type MoldableType struct {
	Parallel string `yaml:"parallel"` // parallel part, at most six decimals
	Limit    int64  `yaml:"limit"`    // processors, 1 to 65,536
	Share    string `yaml:"share"`    // of the jobs; all shares add up to 1
}

// PaperTypes are the types of section 4.2.1.
var PaperTypes = []MoldableType{
	{"0.8", 32, "0.50"},
	{"0.9", 96, "0.30"},
	{"0.99", 256, "0.15"},
	{"0.999", 650, "0.05"},
}

// moldableType is a parsed type. A drawn number selects it if it is below upTo and not below
// the upTo of the type before it. The upTo of the last type is the number of possible draws.
type moldableType struct {
	amdahl
	upTo uint64
}

// parse returns the types, or all problems.
func (m *Moldable) parse() ([]moldableType, []error) {
	if m == nil {
		return nil, nil
	}
	var errs []error
	bad := func(k int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("moldable.types[%d]."+format, append([]any{k}, args...)...))
	}
	given := m.Types
	if len(given) == 0 {
		given = PaperTypes
	}
	if len(given) > maxTypes {
		return nil, []error{fmt.Errorf("moldable.types: %d, accepted: at most %d", len(given), maxTypes)}
	}
	types := make([]moldableType, len(given))
	sums := make([]*big.Rat, len(given)) // up to and including each type
	sum := new(big.Rat)
	for k := range given {
		t := &given[k]
		parallel, err := ParseFraction(t.Parallel)
		switch {
		case err != nil:
			bad(k, "parallel: %w", err)
		case parallel.Num != 0 && millionths%parallel.Den != 0:
			bad(k, "parallel: %q, accepted: at most six decimals", t.Parallel)
		case parallel.Num != 0:
			types[k].parallel = parallel.Num * (millionths / parallel.Den)
		}
		if t.Limit < 1 || t.Limit > maxLimit {
			bad(k, "limit: %d, accepted: 1..%d", t.Limit, maxLimit)
		}
		types[k].limit = int32(min(max(t.Limit, 1), maxLimit))
		share, err := ParseFraction(t.Share)
		if err != nil {
			bad(k, "share: %w", err)
		}
		sum = new(big.Rat).Add(sum, share.rat())
		sums[k] = sum
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		return nil, []error{fmt.Errorf("moldable.types: shares that add up to %s, accepted: to 1", sum.RatString())}
	}
	whole := big.NewInt(1)
	for _, s := range sums {
		whole = lcm(whole, s.Denom())
	}
	if whole.Cmp(big.NewInt(maxWholeDraw)) > 0 {
		return nil,
			[]error{
				errors.New("moldable.types: shares without a common denominator of at most 10^12, accepted: simpler " +
					"ones"),
			}
	}
	for k, s := range sums {
		types[k].upTo = new(big.Int).Div(new(big.Int).Mul(s.Num(), whole), s.Denom()).Uint64()
	}
	return slices.Clip(types), nil
}

func lcm(a, b *big.Int) *big.Int {
	return new(big.Int).Mul(a, new(big.Int).Div(b, new(big.Int).GCD(nil, nil, a, b)))
}

// amdahl is a speedup by Amdahl's law, 1 / ((1-P) + P/N). The parallel part P is in millionths,
// so all results are fractions of integers.
type amdahl struct {
	parallel int64
	limit    int32 // maximum width
}

const millionths = 1_000_000

// serial returns N times the inverse of the speedup on N processors, in millionths: N
// processors take serial/N of the time of one processor.
func (a amdahl) serial(width int32) uint64 {
	return uint64(millionths-a.parallel)*uint64(width) + uint64(a.parallel)
}

// menu appends the shapes of a job with the given traced width, at least 2, and walltime: all
// widths from 1 to the limit and the widest site, at speed 1.0. The walltime on one processor
// is the traced one times the speedup; on n processors it is this over the speedup of n,
//
//	traced × (n / speedup of n) / n × speedup of the traced width
//
// rounded up once to whole seconds. The traced width can exceed the limit: the law still
// applies there, but no job runs that wide.
func (a amdahl) menu(dst []batch.Shape, walltime batch.Duration, traced, widest int32) []batch.Shape {
	work := uint64(walltime.CeilSeconds()/batch.Second) * uint64(traced)
	over := a.serial(traced)
	for n := int32(1); n <= min(a.limit, widest); n++ {
		dst = append(dst, batch.Shape{Width: n, Walltime: quotient(work, a.serial(n), uint64(n)*over)})
	}
	return dst
}

// quotient returns x × num / den seconds, rounded up. The result is at most
// batch.Forever.
func quotient(x, num, den uint64) batch.Duration {
	hi, lo := bits.Mul64(x, num)
	if hi >= den {
		return batch.Forever
	}
	q, r := bits.Div64(hi, lo, den)
	if r > 0 {
		q++
	}
	if q > uint64(batch.Forever/batch.Second) {
		return batch.Forever
	}
	return batch.Duration(q) * batch.Second
}

// ratio returns the runtime of a traced job under another walltime: the same fraction of it,
// rounded to the nearest second, halves up.
func ratio(runtime, walltime, got batch.Duration) batch.Duration {
	if got == batch.Forever {
		return batch.Forever
	}
	r, w, g := uint64(runtime/batch.Second), uint64(walltime/batch.Second), uint64(got/batch.Second)
	hi, lo := bits.Mul64(2*r, g)
	lo, carry := bits.Add64(lo, w, 0)
	if hi += carry; hi >= 2*w {
		return batch.Forever
	}
	q, _ := bits.Div64(hi, lo, 2*w)
	if q > uint64(batch.Forever/batch.Second) {
		return batch.Forever
	}
	return batch.Duration(q) * batch.Second
}

// menus creates the menus of grid jobs, at speed 1.0. A menu stays valid until its job ends,
// because sites point to it. Memory is reused.
type menus struct {
	types  []moldableType
	widest int32
	byJob  [][]batch.Shape
	unused [][]batch.Shape
}

func newMenus(g *Grid, jobs int) menus {
	return menus{types: g.types, widest: g.widest, byJob: make([][]batch.Shape, jobs)}
}

// take creates the menu of job i.
func (m *menus) take(i int, j *Job) []batch.Shape {
	var menu []batch.Shape
	if n := len(m.unused); n > 0 {
		menu, m.unused = m.unused[n-1][:0], m.unused[:n-1]
	}
	if j.Type == 0 {
		menu = append(menu, batch.Shape{Width: j.Width, Walltime: j.Walltime})
	} else {
		menu = m.types[j.Type-1].menu(menu, j.Walltime, j.Width, m.widest)
	}
	m.byJob[i] = menu
	return menu
}

// release reuses the menu of a job that has ended.
func (m *menus) release(i int32) {
	m.unused = append(m.unused, m.byJob[i])
	m.byJob[i] = nil
}

// Each purpose has its own stream of random numbers, so the draws of one do not affect another.
// A stream is a PCG; one half of its seed is the experiment's, the other the purpose's.
const (
	purposeTypes uint64 = 0x74797065730000 // "types"
	purposeLocal uint64 = 0x6c6f63616c0000 // "local"
)

func stream(seed, purpose uint64) *rand.PCG { return rand.NewPCG(seed, purpose) }

// below draws uniformly from 0 to n-1 (D. Lemire, "Fast Random Integer Generation in an
// Interval", 2019).
func below(p *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(p.Uint64(), n)
	for least := -n % n; lo < least; {
		hi, lo = bits.Mul64(p.Uint64(), n)
	}
	return hi
}

// draw draws the type of each job and whether it is local. Each job takes one number of each
// purpose, even if it is not used, so a job's type does not depend on the other jobs.
func draw(jobs []Job, seed uint64, types []moldableType, local Fraction, sites []GridSite) {
	if len(types) > 0 {
		p, whole := stream(seed, purposeTypes), types[len(types)-1].upTo
		for i := range jobs {
			x := below(p, whole)
			if jobs[i].Width == 1 {
				continue // sequential jobs stay sequential
			}
			k := 0
			for x >= types[k].upTo {
				k++
			}
			jobs[i].Type = uint8(k + 1)
		}
	}
	if !local.IsZero() {
		p := stream(seed, purposeLocal)
		for i := range jobs {
			j := &jobs[i]
			// A local user does not submit a job that is too wide for the site.
			if below(p, uint64(local.Den)) < uint64(local.Num) && int64(j.Width) <= sites[j.Home].Procs {
				j.Local = true
			}
		}
	}
}

package sim

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Limits of moldable types.
const (
	maxTypes     = 100
	maxLimit     = 1 << 16           // processors
	maxWholeDraw = 1_000_000_000_000 // common denominator of the shares
)

// Moldable makes the parallel jobs of the traces moldable: each is drawn a type.
// Without types they are the paper's.
type Moldable struct {
	Types []MoldableType `yaml:"types"`
}

// MoldableType is a speedup by Amdahl's law up to a limit. Its fractions are
// written as 0.8 or 4/5.
type MoldableType struct {
	Parallel string `yaml:"parallel"` // part, at most six decimals
	Limit    int64  `yaml:"limit"`    // processors, 1 to 65,536
	Share    string `yaml:"share"`    // of the jobs; all shares make 1
}

// PaperTypes are those of section 4.2.1.
var PaperTypes = []MoldableType{
	{"0.8", 32, "0.50"},
	{"0.9", 96, "0.30"},
	{"0.99", 256, "0.15"},
	{"0.999", 650, "0.05"},
}

// moldableType is one that is ready to be drawn: it is taken for numbers from the
// last type's upTo up to its own. That of the last one is how many there are.
type moldableType struct {
	amdahl
	upTo uint64
}

// parse returns the types, or everything that is wrong with them.
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
	sums := make([]*big.Rat, len(given)) // up to each type, itself among them
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
		return nil, []error{errors.New("moldable.types: shares without a common denominator of at most 10^12, accepted: simpler ones")}
	}
	for k, s := range sums {
		types[k].upTo = new(big.Int).Div(new(big.Int).Mul(s.Num(), whole), s.Denom()).Uint64()
	}
	return slices.Clip(types), nil
}

func lcm(a, b *big.Int) *big.Int {
	return new(big.Int).Mul(a, new(big.Int).Div(b, new(big.Int).GCD(nil, nil, a, b)))
}

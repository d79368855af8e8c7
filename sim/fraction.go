package sim

import (
	"fmt"
	"math/big"
	"regexp"
)

// maxFraction bounds both parts of a fraction that is read from a file.
const maxFraction = 1_000_000_000

// Fraction is an exact number from 0 to 1. The zero Fraction is 0.
type Fraction struct{ Num, Den int64 }

// PaperLocal is the share of local users' jobs on the paper's non-dedicated
// platforms.
var PaperLocal = Fraction{2, 3}

var fractionForm = regexp.MustCompile(`^[0-9]{1,10}(\.[0-9]{1,9}|/[0-9]{1,10})?$`)

// ParseFraction reads "0.8" or "2/3".
func ParseFraction(s string) (Fraction, error) {
	r := new(big.Rat)
	if fractionForm.MatchString(s) {
		if _, ok := r.SetString(s); ok && r.Cmp(big.NewRat(1, 1)) <= 0 && r.Denom().Cmp(big.NewInt(maxFraction)) <= 0 {
			return Fraction{r.Num().Int64(), r.Denom().Int64()}, nil
		}
	}
	return Fraction{}, fmt.Errorf("%q, accepted: 0 to 1, as 0.8 or 2/3", s)
}

// IsZero says whether it is 0.
func (f Fraction) IsZero() bool { return f.Num == 0 }

// String is what ParseFraction reads.
func (f Fraction) String() string {
	if f.Den <= 1 {
		return fmt.Sprint(f.Num)
	}
	return fmt.Sprintf("%d/%d", f.Num, f.Den)
}

func (f Fraction) valid() bool {
	return f.Num == 0 || f.Num > 0 && f.Num <= f.Den && f.Den <= maxFraction
}

func (f Fraction) rat() *big.Rat {
	if f.Num == 0 {
		return new(big.Rat)
	}
	return big.NewRat(f.Num, f.Den)
}

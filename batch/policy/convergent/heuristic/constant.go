package heuristic

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Constant is a number of the configuration in millionths, so that a user's decimal is kept
// exactly.
type Constant int64

// One is the constant 1.
const One Constant = 1_000_000

// most is the largest constant, a million.
const most = 1_000_000 * One

// Parse reads a decimal such as 0.02, 10 or 2.5, from 0 to 1000000 with up to six decimals.
func Parse(s string) (Constant, error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if whole == "" || pointed && fraction == "" || len(fraction) > 6 {
		return 0, fmt.Errorf("constant %q, accepted: %s", s, accepted)
	}
	var c Constant
	for _, digit := range whole + fraction + strings.Repeat("0", 6-len(fraction)) {
		if digit < '0' || digit > '9' || c > most {
			return 0, fmt.Errorf("constant %q, accepted: %s", s, accepted)
		}
		c = c*10 + Constant(digit-'0')
	}
	if c > most {
		return 0, fmt.Errorf("constant %q, accepted: %s", s, accepted)
	}
	return c, nil
}

const accepted = "0..1000000 with up to 6 decimals"

// String formats the constant so that Parse can read it.
func (c Constant) String() string {
	s := fmt.Sprintf("%d.%06d", c/One, c%One)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// points converts the constant to points, rounded to the nearest unit.
func (c Constant) points() farm.Points {
	return (int64(c)*farm.Point + int64(One)/2) / int64(One)
}

// units converts the constant to units of points, without rounding.
func (c Constant) units() float64 { return float64(float64(c)*float64(farm.Point)) / float64(One) }

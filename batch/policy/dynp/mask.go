package dynp

import "math/bits"

// MaxPolicies is the largest number of policies to choose from.
const MaxPolicies = 8

// mask is a set of policies, by index.
type mask uint8

func (m mask) has(i int) bool { return m>>i&1 != 0 }

func (m mask) lowest() int { return bits.TrailingZeros8(uint8(m)) }

package lu

import (
	_ "embed" // of the matrix
	"slices"
)

//go:embed testdata/lund_a.mtx
var lundA []byte

// LundA returns the Matrix Market file of LUND A, a symmetric system of 147
// unknowns from structural engineering, for those who have no matrix at hand.
// The bytes are the caller's.
func LundA() []byte { return slices.Clone(lundA) }

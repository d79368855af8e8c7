// Package primes is the bundled service that counts and sums the primes below a bound. It
// can be stopped and resumed.
//
// It sieves the odd numbers in segments by the primes up to the root of the bound
// (Eratosthenes):
//
//	0          segment        2·segment          next              below
//	├─────────────┼──────────────┼─ ... ──────────┼─────────────── ... ─┤
//	└ counted: number, sum, largest ──────────────┘ checkpoint: file "state"
//
// When it is stopped it finishes its segment, a few milliseconds, and writes its state
// atomically. Started again with the same directory it resumes from the state. The result
// does not depend on the number or the times of the stops.
package primes

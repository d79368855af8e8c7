// Package primes is the bundled service that counts the primes below a bound, and adds
// them up. It can be stopped and go on from where it was.
//
// The numbers are sieved in segments by the primes up to the root of the bound
// (Eratosthenes), odd numbers only:
//
//	0          segment        2·segment          next              below
//	├─────────────┼──────────────┼─ ... ──────────┼─────────────── ... ─┤
//	└ counted: how many, their sum, the largest ──┘ written down: "state"
//
// When it is told to stop it ends the segment in hand, a few milliseconds, and writes
// down where it is: a file that is there whole or not at all. Started again with the
// same directory it goes on from there, so what it finds does not depend on how often
// it was stopped, nor on when.
package primes

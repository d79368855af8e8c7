package primes

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Accepted ranges: the sum of all primes below MostBelow is below 2^64.
const (
	LeastBelow = 2
	MostBelow  = 10_000_000_000
)

// Config is what the service is called with.
type Config struct {
	Below      int    // counts the primes below it, LeastBelow to MostBelow
	Checkpoint string // directory for its state; empty: it cannot go on later
}

// Validate reports an argument out of range, as a *services.ArgumentError.
func (c Config) Validate() error {
	return errors.Join(services.CheckRange("below", c.Below, LeastBelow, MostBelow))
}

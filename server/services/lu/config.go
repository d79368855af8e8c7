package lu

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Accepted ranges.
const (
	MaxOrder   = 8192 // unknowns: 512 MiB for A, as much for its factors
	MaxThreads = 1024
	MaxRepeat  = 1_000_000
)

// Config is what the service is called with.
type Config struct {
	Matrix  string // file of A: Matrix Market, square, at most MaxOrder rows
	RHS     string // file of b: Matrix Market, one column; empty: b = A*ones
	Output  string // file the solution is written to
	Threads int    // goroutines that factorize, 1 to MaxThreads
	Repeat  int    // times the system is solved, 1 to MaxRepeat; only time differs
}

// DefaultConfig solves once on one thread. It lacks the files.
func DefaultConfig() Config {
	return Config{Threads: 1, Repeat: 1}
}

// Validate reports every argument out of range, each as a
// *services.ArgumentError.
func (c Config) Validate() error {
	return errors.Join(
		services.CheckPath("matrix", c.Matrix),
		services.CheckPath("output", c.Output),
		services.CheckRange("threads", c.Threads, 1, MaxThreads),
		services.CheckRange("repeat", c.Repeat, 1, MaxRepeat),
	)
}

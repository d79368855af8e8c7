package gemm

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Accepted ranges.
const (
	MaxDimension = 1 << 20
	// MaxElements bounds each of the three matrices: 128 MiB.
	MaxElements = 1 << 24
	MaxThreads  = 1024
)

// Config is what the service is called with.
type Config struct {
	A, B    string  // files of the factors: Rows x Inner, Inner x Cols
	C       string  // file that is added to and replaced: Rows x Cols
	Rows    int     // of A and C, 0 to MaxDimension
	Inner   int     // columns of A, rows of B, 0 to MaxDimension
	Cols    int     // of B and C, 0 to MaxDimension
	Alpha   float64 // factor of the product
	Beta    float64 // factor of C as it was
	Threads int     // goroutines that multiply, 1 to MaxThreads
}

// DefaultConfig multiplies on one thread. It lacks the files.
func DefaultConfig() Config { return Config{Alpha: 1, Threads: 1} }

// Validate reports every argument out of range, each as a *services.ArgumentError.
func (c Config) Validate() error {
	err := errors.Join(
		services.CheckPath("a", c.A),
		services.CheckPath("b", c.B),
		services.CheckPath("c", c.C),
		services.CheckRange("rows", c.Rows, 0, MaxDimension),
		services.CheckRange("inner", c.Inner, 0, MaxDimension),
		services.CheckRange("cols", c.Cols, 0, MaxDimension),
		services.CheckRange("threads", c.Threads, 1, MaxThreads),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		services.CheckRange("elements of a", c.Rows*c.Inner, 0, MaxElements),
		services.CheckRange("elements of b", c.Inner*c.Cols, 0, MaxElements),
		services.CheckRange("elements of c", c.Rows*c.Cols, 0, MaxElements),
	)
}

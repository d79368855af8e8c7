package catalogue

import (
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Speed is the speed of one processor of a site, in millionths of the reference processor
// to which the work of services refers. It is fixed-point, so scaling is exact and the
// same on every machine.
type Speed int64

// Limits and unit of speeds.
const (
	Reference Speed = 1_000_000           // speed 1.0
	MinSpeed  Speed = Reference / 1000    // speed 0.001
	MaxSpeed  Speed = Reference * 1000    // speed 1000
	MaxTime         = 87_660 * batch.Hour // longest walltime and runtime estimate: ten years
	speedTerm       = "a number from 0.001 to 1000"
)

// ParseSpeed parses a speed in the format of configuration files: "1.25".
func ParseSpeed(s string) (Speed, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0.001 && f <= 1000) {
		return 0, fmt.Errorf("speed: %q, accepted: %s", s, speedTerm)
	}
	return Speed(float64(f*1e6) + 0.5), nil
}

// Validate returns an error unless the speed is within MinSpeed..MaxSpeed.
func (s Speed) Validate() error {
	if s < MinSpeed || s > MaxSpeed {
		return fmt.Errorf("speed: %v, accepted: %s", s, speedTerm)
	}
	return nil
}

// Float returns the speed as a number; the reference is 1.0.
func (s Speed) Float() float64 { return float64(s) / float64(Reference) }

// String formats the speed as a number.
func (s Speed) String() string { return strconv.FormatFloat(s.Float(), 'g', -1, 64) }

// Scale converts d, a time at speed 1.0, to speed s: d/s, rounded up to the microsecond.
// A result that does not fit is batch.Forever. d must not be negative.
func (s Speed) Scale(d batch.Duration) batch.Duration {
	if s == Reference || d == batch.Forever {
		return d
	}
	return d.Times(int64(Reference), int64(s))
}

// Walltime returns Scale(d), rounded up to whole seconds. Millionths of a second divided
// by millionths of the reference speed are seconds.
func (s Speed) Walltime(d batch.Duration) batch.Duration {
	seconds := uint64(d) / uint64(s)
	if uint64(d)%uint64(s) > 0 {
		seconds++
	}
	if seconds > uint64(batch.Forever/batch.Second) || d == batch.Forever {
		return batch.Forever
	}
	return batch.Duration(seconds) * batch.Second
}

package cmdline

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// DurationForms are the ways to write a duration.
const DurationForms = "a duration as 90s, 1h30m, HH:MM:SS or D-HH:MM:SS"

// ErrDuration is the end of the error about a text that is not a duration.
var ErrDuration = errors.New("accepted: " + DurationForms)

// ParseDuration reads a duration in Go's form (90s, 1h30m) or in that of batch systems
// (HH:MM:SS, D-HH:MM:SS). The caller checks the range.
//
// It refuses Slurm's MM:SS and bare minutes: elsewhere a bare number is seconds, and 10:00
// is a time of day.
func ParseDuration(text string) (time.Duration, error) {
	if !strings.Contains(text, ":") {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q, %w", text, ErrDuration)
		}
		return d, nil
	}
	d, ok := ParseClock(text)
	if !ok {
		return 0, fmt.Errorf("%q, %w", text, ErrDuration)
	}
	return d, nil
}

// ParseClock reads HH:MM:SS and D-HH:MM:SS. Without days the number of hours is
// not limited.
func ParseClock(text string) (time.Duration, bool) {
	const longest = math.MaxInt64 / int64(time.Second)
	days, rest, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, rest = "0", text
	}
	parts := strings.Split(rest, ":")
	if len(parts) != 3 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return 0, false
	}
	var total int64
	for _, p := range []struct {
		digits      string
		below, unit int64 // below 0: only the whole is bounded
	}{{days, 0, 86400}, {parts[0], 24, 3600}, {parts[1], 60, 60}, {parts[2], 60, 1}} {
		n, err := strconv.ParseUint(p.digits, 10, 40)
		bounded := p.below > 0 && (p.unit != 3600 || hasDays)
		if err != nil || bounded && int64(n) >= p.below || int64(n) > longest/p.unit {
			return 0, false
		}
		if total += int64(n) * p.unit; total > longest {
			return 0, false
		}
	}
	return time.Duration(total) * time.Second, true
}

// Durations returns an option: ParseDuration reads all flags that are durations.
func Durations() kong.Option {
	return kong.TypeMapper(reflect.TypeFor[time.Duration](),
		kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
			token := ctx.Scan.Pop()
			text, ok := token.Value.(string)
			if !ok {
				return fmt.Errorf("%v, %w", token.Value, ErrDuration)
			}
			d, err := ParseDuration(text)
			if err != nil {
				return err
			}
			target.SetInt(int64(d))
			return nil
		}))
}

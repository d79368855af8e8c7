package catalogue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

const (
	bytesAccepted    = "bytes with a unit, as 512MiB (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)"
	durationAccepted = "a time with its unit, as 90s, 5m or 1h30m"
)

var byteUnits = []struct {
	name string
	size float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// parseBytes reads an amount of memory: a number and a unit.
func parseBytes(s string) (int64, error) {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		b := float64(x * u.size)
		if err != nil || !(b >= 1 && b <= 1<<62) {
			break
		}
		return int64(math.Ceil(b)), nil
	}
	return 0, fmt.Errorf("got %q, accepted: %s", s, bytesAccepted)
}

// parseDuration reads a time with its unit, above zero or zero.
func parseDuration(s string) (batch.Duration, bool) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || !strings.ContainsAny(s, "hmsuµn") {
		return 0, false
	}
	return batch.Duration(d / time.Microsecond), true
}

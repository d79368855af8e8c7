package cmdline

import (
	"math"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes, as 100, 100B, 3KiB, 64MiB, 1GiB or 2TiB.
func ParseSize(text string) (int64, error) {
	for unit, factor := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err == nil && n > math.MaxInt64/factor {
				err = strconv.ErrRange
			}
			return n * factor, err
		}
	}
	return strconv.ParseInt(strings.TrimSuffix(text, "B"), 10, 64)
}

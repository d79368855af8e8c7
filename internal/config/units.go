package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Size is a number of bytes, written "512MiB" or "16GB".
type Size int64

// Rate is in bytes per second, written "125MB/s" or "1GiB/s".
type Rate int64

const (
	sizeAccepted = "bytes with a unit, as 512MiB or 16GB"
	rateAccepted = "a rate with its unit, as 125MB/s or 1GiB/s"
)

// units are the suffixes of a number of bytes, longest first.
var units = []struct {
	suffix string
	bytes  float64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

// ParseBytes reads a number with its unit, as 512MiB, rounding down to the byte.
func ParseBytes(text string) (int64, bool) {
	for _, u := range units {
		number, found := strings.CutSuffix(text, u.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v >= 0 && v*u.bytes < math.MaxInt64) {
			return 0, false
		}
		return int64(v * u.bytes), true
	}
	return 0, false
}

// UnmarshalYAML reads a size with its unit.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	v, ok := ParseBytes(n.Value)
	if !ok {
		return fmt.Errorf("%q, accepted: %s", n.Value, sizeAccepted)
	}
	*s = Size(v)
	return nil
}

// UnmarshalYAML reads a rate with its unit.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	v, ok := ParseBytes(strings.TrimSuffix(n.Value, "/s"))
	if !ok {
		return fmt.Errorf("%q, accepted: %s", n.Value, rateAccepted)
	}
	*r = Rate(v)
	return nil
}

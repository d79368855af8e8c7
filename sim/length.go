package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// day is a unit that package time does not have.
const day = 24 * batch.Hour

// maxDays keeps all lengths within what a trace can have, 317 years.
const maxDays = 115_000

// parseLength reads a length of time: "30d", "30.5d", or as package time writes
// it; "" is 0.
func parseLength(s string) (batch.Duration, error) {
	if s == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		whole, tenths, _ := strings.Cut(days, ".")
		n, err := strconv.ParseUint(whole, 10, 32)
		var part uint64
		if err == nil && len(tenths) > 0 {
			part, err = strconv.ParseUint(tenths, 10, 8)
		}
		if err == nil && len(tenths) <= 1 && n <= maxDays {
			return batch.Duration(n)*day + batch.Duration(part)*day/10, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return batch.Duration(d / time.Microsecond), nil
	}
	return 0, fmt.Errorf("%q, accepted: a length of time with its unit, as 30d or 12h", s)
}

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

// ParseLength reads a length of time, which is not negative: "30d", "30.5d", or as
// package time writes it; "" is 0. What is below a microsecond is cut off.
func ParseLength(s string) (batch.Duration, error) {
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

// Seconds writes an instant or a length of time in seconds, exactly.
func Seconds[T batch.Time | batch.Duration](t T) string {
	us := int64(t)
	const unit = int64(batch.Second)
	if us%unit == 0 {
		return strconv.FormatInt(us/unit, 10)
	}
	sign := ""
	if us < 0 {
		sign, us = "-", -us
	}
	digits := fmt.Sprintf("%06d", us%unit)
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return sign + strconv.FormatInt(us/unit, 10) + "." + digits
}

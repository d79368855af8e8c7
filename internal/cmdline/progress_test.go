package cmdline

import (
	"testing"
	"time"
)

func TestRoughlyIsAsExactAsAnEstimate(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1400 * time.Millisecond: "1 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min",
		3599 * time.Second: "60 min",
		time.Hour:          "1h00m", 49*time.Hour + 5*time.Minute + 30*time.Second: "49h05m",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

package agent

import (
	"testing"
	"time"
)

func TestADeadlineThatIsSaidToBeEnoughIsLaterThanTheOffer(t *testing.T) {
	for completion, want := range map[time.Duration]time.Duration{
		0:                             time.Second,
		106 * time.Second:             107 * time.Second,
		106*time.Second + 20:          107 * time.Second,
		106*time.Second + 999_999_999: 107 * time.Second,
	} {
		if got := enough(completion); got != want || got <= completion {
			t.Errorf("an offer for %v: %v is enough, want %v", completion, got, want)
		}
	}
}

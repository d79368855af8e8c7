package dfrs

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// PeriodOf returns the period of a policy with these settings. It returns false if the
// settings are wrong, or if their algorithm does nothing periodically.
func PeriodOf(s batch.Settings) (batch.Duration, bool) {
	set, err := parse(s)
	return set.period, err == nil && set.algorithm.Period != NoPeriod
}

// ThrashingWarning explains what happens with a period no longer than the penalty for
// resuming or moving a job.
func ThrashingWarning(period, penalty batch.Duration) string {
	return fmt.Sprintf("warning: a period of %v is no longer than the penalty of %v: "+
		"a job moved in every period makes no progress (the paper's section 6.4.2)", period, penalty)
}

package dfrs

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// Two tasks of 6 did not fit, so more or larger tasks do not fit either. Nothing follows for
// fewer or smaller tasks, for several groups, or for jobs that keep their memory.
func TestJobsLargerThanARefusedOneAreNotTried(t *testing.T) {
	var p Policy
	group := func(tasks int32, memory int64) []pack.Group { return []pack.Group{{Tasks: tasks, Memory: memory}} }
	p.refuse(&job{groups: append(group(1, 1), group(1, 1)...)})
	p.refuse(&job{groups: group(1, 1), home: []place{}})
	p.refuse(&job{groups: group(2, 6)})
	for _, c := range []struct {
		job     job
		refused bool
	}{
		{job{groups: group(2, 6)}, true},
		{job{groups: group(3, 6)}, true},
		{job{groups: group(2, 7)}, true},
		{job{groups: group(1, 9)}, false},
		{job{groups: group(9, 5)}, false},
		{job{groups: append(group(9, 9), group(9, 9)...)}, false},
		{job{groups: group(9, 9), home: []place{}}, false},
	} {
		if got := p.refuses(&c.job); got != c.refused {
			t.Errorf("%+v: %v, want %v", c.job.groups, got, c.refused)
		}
	}
}

package rounds

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// Leads reports whether an agent runs the periodic rounds: its name is the first of all
// living agents. Agents that do not see each other can both lead, which wastes work but
// does no harm.
func Leads(name string, living []string) bool {
	for _, other := range living {
		if other < name {
			return false
		}
	}
	return true
}

// Next returns the time from an instant of the wall clock to the next multiple of a
// period. So a restarted agent, or one that takes over, keeps the same schedule.
func Next(now batch.Time, period batch.Duration) batch.Duration {
	past := batch.Duration(now) % period
	if past < 0 {
		past += period
	}
	return period - past
}

// Memory counts how often rounds of this agent have delayed each job. It is soft state: a
// restarted agent, or another one, begins at 0. Make one with NewMemory.
type Memory struct{ later map[string]int }

// NewMemory returns an empty memory.
func NewMemory() *Memory { return &Memory{later: make(map[string]int)} }

// Later returns how often rounds have delayed a job.
func (m *Memory) Later(job string) int { return m.later[job] }

// Keep stores how often rounds have delayed a job.
func (m *Memory) Keep(job string, later int) {
	if later > 0 {
		m.later[job] = later
	}
}

// Sift forgets the jobs that no longer wait.
func (m *Memory) Sift(waits func(job string) bool) {
	for job := range m.later {
		if !waits(job) {
			delete(m.later, job)
		}
	}
}

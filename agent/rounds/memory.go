package rounds

// Memory is how often rounds of this agent have put a job back later than it was.
// It is soft state: an agent that is started anew, or another one, begins at 0, so
// that a job may then have to be as patient again. Make one with NewMemory.
type Memory struct{ later map[string]int }

// NewMemory returns an empty memory.
func NewMemory() *Memory { return &Memory{later: make(map[string]int)} }

// Later returns what is remembered of a job.
func (m *Memory) Later(job string) int { return m.later[job] }

// Keep notes what there is to remember of a job.
func (m *Memory) Keep(job string, later int) {
	if later > 0 {
		m.later[job] = later
	}
}

// Sift forgets the jobs that do not wait any more.
func (m *Memory) Sift(waits func(job string) bool) {
	for job := range m.later {
		if !waits(job) {
			delete(m.later, job)
		}
	}
}

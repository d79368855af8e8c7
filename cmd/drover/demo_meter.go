package main

import (
	"math"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// shareMeter compares what a job has used with what it was given, over the times
// between two measurements in which its share was seen to stay the same.
//
//	seen      │  │  │  │  │  │  │  │  │  │  │  │
//	share    ─1/2──────┐└1/3────────────────────────
//	measured     ▲           ▲           ▲
//	                  no ────┘ counts ───┘
type shareMeter struct {
	share float64   // processors, all tasks together; 0 while it is paused
	since time.Time // first seen

	at  time.Time // of the last measurement
	cpu time.Duration

	given, used float64 // seconds of a processor
	span        time.Duration
}

// sameShare is how far two shares may be from each other and be the same: a policy may
// have rounded.
const sameShare = 1e-3

// see takes in what a site said at an instant.
func (m *shareMeter) see(at time.Time, j *client.JobUse) {
	share := j.Share * float64(j.Tasks)
	if m.since.IsZero() || math.Abs(share-m.share) > sameShare {
		m.share, m.since = share, at
	}
	if !j.Measured.After(m.at) {
		return
	}
	if !m.at.IsZero() && j.CPUTime >= m.cpu && share > 0 && !m.since.After(m.at) {
		span := j.Measured.Sub(m.at)
		m.span += span
		m.given += share * span.Seconds()
		m.used += (j.CPUTime - m.cpu).Seconds()
	}
	m.at, m.cpu = j.Measured, j.CPUTime
}

// gone says that the job has no processes: what is measured next is another attempt's.
func (m *shareMeter) gone() { m.since, m.at = time.Time{}, time.Time{} }

// off returns by what part of its share a job has used more or less than that.
func (m *shareMeter) off() float64 {
	if m.given == 0 {
		return 0
	}
	return m.used/m.given - 1
}

// otherMeter finds out how many processors programs use that are no jobs of the site,
// over the times between two measurements in which the same jobs were there.
type otherMeter struct {
	busy func() (time.Duration, bool) // processor time of the host that was not idle

	at   time.Time
	last time.Duration
	cpu  map[string]time.Duration // by job

	used float64 // seconds of a processor
	span time.Duration
}

// see takes in what a site said.
func (m *otherMeter) see(jobs []client.JobUse) {
	var at time.Time
	cpu := make(map[string]time.Duration)
	for i := range jobs {
		cpu[jobs[i].ID] = jobs[i].CPUTime
		if jobs[i].Measured.After(at) {
			at = jobs[i].Measured
		}
	}
	if !at.After(m.at) {
		return
	}
	busy, known := m.busy()
	if !known {
		return
	}
	if jobs, same := m.since(cpu); same {
		m.span += at.Sub(m.at)
		m.used += (busy - m.last - jobs).Seconds()
	}
	m.at, m.last, m.cpu = at, busy, cpu
}

// since returns what jobs have used since the last time, false if others were there.
func (m *otherMeter) since(cpu map[string]time.Duration) (used time.Duration, same bool) {
	if m.at.IsZero() || len(cpu) != len(m.cpu) {
		return 0, false
	}
	for id, now := range cpu {
		before, there := m.cpu[id]
		if !there || now < before {
			return 0, false
		}
		used += now - before
	}
	return used, true
}

// rate returns the processors that others used, false if that is not known.
func (m *otherMeter) rate() (float64, bool) {
	if m.span == 0 {
		return 0, false
	}
	return max(0, m.used/m.span.Seconds()), true
}

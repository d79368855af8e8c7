package server

import (
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/plan/needs"
)

// meter says what processes use.
type meter interface {
	// read returns for each attempt what was measured last of each of its processes.
	read(now time.Time) map[batch.Key][]usage
	// limits says whether memory is held to what was declared.
	limits() bool
}

// usage is what a process has used since its start.
type usage struct {
	rank int32
	at   time.Time
	cgroup.Use
	// waited is how long its threads have waited for a processor of a busy host.
	waited time.Duration
}

// nearMeter measures what runs on this host.
type nearMeter struct{ host *node.Host }

func (m nearMeter) read(now time.Time) map[batch.Key][]usage {
	all := make(map[batch.Key][]usage)
	for _, p := range m.host.Running() {
		use, err := p.Use()
		if err != nil {
			continue // it is about to end, or nothing measures here
		}
		waited, err := p.Waited()
		if err != nil {
			continue // likewise
		}
		all[p.ID().Key] = append(all[p.ID().Key], usage{p.ID().Rank, now, use, waited})
	}
	return all
}

func (m nearMeter) limits() bool { return m.host.Offers().Of(cgroup.Memory) != cgroup.None }

// farMeter keeps what nodes have said. What is older than stale is of processes that have
// ended, or of a node that does not answer.
type farMeter struct {
	hosts []*host
	stale time.Duration

	mu   sync.Mutex
	last map[node.ID]usage
}

func newFarMeter() *farMeter {
	return &farMeter{stale: 5 * gaugeEvery, last: make(map[node.ID]usage)}
}

// take is remote.Config's Measured.
func (m *farMeter) take(all []node.Measurement) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range all {
		m.last[one.ID] = usage{one.ID.Rank, now, one.Use, one.Waited}
	}
}

func (m *farMeter) read(now time.Time) map[batch.Key][]usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[batch.Key][]usage)
	for id, u := range m.last {
		if now.Sub(u.at) > m.stale {
			delete(m.last, id)
			continue
		}
		all[id.Key] = append(all[id.Key], u)
	}
	return all
}

// limits says whether all nodes that have answered hold memory.
func (m *farMeter) limits() bool {
	for _, h := range m.hosts {
		for _, o := range h.offers() {
			if o.Ability == cgroup.Memory.String() && o.Way == cgroup.None.String() {
				return false
			}
		}
	}
	return true
}

// member is what is known of one process of an attempt.
type member struct {
	tasks int32
	at    time.Time // of the last sample
	last  usage
	rate  float64 // processors of its host used since the sample before
}

// take returns what a task has used since the sample before. Memory is that of all tasks,
// less what the kernel can take back at once, divided among them. Who waits for a
// processor because the host has others to run wants that time as well; of who is held
// back by its share only what it got is known.
func (m *member) take(u *usage, worth cgroup.CPU) needs.Sample {
	tasks := int64(m.tasks)
	s := needs.Sample{Memory: (u.Memory - min(u.Cache, u.Memory) + tasks - 1) / tasks}
	span := u.at.Sub(m.at)
	if !m.at.IsZero() && span > 0 {
		used, throttled := u.CPU-m.last.CPU, u.Throttled-m.last.Throttled
		m.rate = float64(used) / float64(span)
		wanted := used
		if throttled <= span/heldBack {
			wanted += max(u.waited-m.last.waited, 0)
		}
		each := float64(wanted) / float64(span) / float64(tasks) * float64(cgroup.Processor) / float64(worth)
		s.Span, s.CPU, s.Throttled = micros(span), batch.Share(min(each, 1)*float64(batch.One)), micros(throttled)
	}
	m.at, m.last = u.at, *u
	return s
}

package sim

import (
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/nodes"
)

// Places keeps which processors each job had: the lowest-numbered free ones,
// where a policy only counts them.
type Places struct {
	free *nodes.Allocator
	held [][]batch.Location // by job, while it runs
	text []string           // by job
}

// NewPlaces returns the places of so many jobs on a machine of so many
// processors.
func NewPlaces(procs int32, jobs int) *Places {
	return &Places{
		free: nodes.New(batch.Processors(procs)), held: make([][]batch.Location, jobs), text: make([]string, jobs),
	}
}

func (p *Places) start(i int, job *batch.Job, places []batch.Location) {
	if places == nil {
		p.held[i] = p.free.Pick(job.Shape.Width)
	} else {
		p.held[i] = append([]batch.Location(nil), places...)
		p.free.Take(p.held[i])
	}
	p.text[i] = intervals(p.held[i])
}

func (p *Places) end(i int) {
	p.free.Release(p.held[i])
	p.held[i] = nil
}

// of returns a job's processors as intervals; "" if they were not kept.
func (p *Places) of(i int) string {
	if p == nil {
		return ""
	}
	return p.text[i]
}

// intervals writes processors as Batsim does: "0-3 7".
func intervals(places []batch.Location) string {
	var s strings.Builder
	for i := 0; i < len(places); {
		first := places[i].Node
		last := first
		for i++; i < len(places) && places[i].Node == last+1; i++ {
			last++
		}
		if s.Len() > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(strconv.Itoa(int(first)))
		if last > first {
			s.WriteByte('-')
			s.WriteString(strconv.Itoa(int(last)))
		}
	}
	return s.String()
}

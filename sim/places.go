package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/nodes"
)

// Places books the processors of one machine: the lowest-numbered free ones,
// where a policy only counts them. Where jobs share processors, or are paused, nothing is
// booked, and what is told of a job is where it starts: its nodes.
type Places struct {
	free *nodes.Allocator         // nil: shared
	held [][]batch.NodeAllocation // by handle
}

// NewPlaces returns the places of an idle machine of so many processors under a policy.
func NewPlaces(policy string, procs int32) *Places {
	if choosesNodes(policy) {
		return &Places{}
	}
	return &Places{free: nodes.New(batch.Processors(procs))}
}

// start books a job's processors and returns them as intervals.
func (p *Places) start(job *batch.Job, places []batch.NodeAllocation) string {
	if p.free == nil {
		return intervals(places)
	}
	for int(job.Handle) >= len(p.held) {
		p.held = append(p.held, nil)
	}
	if places == nil {
		places = p.free.Pick(job.Shape.Width)
	} else {
		places = slices.Clone(places)
		if !p.free.Take(places) {
			panic(fmt.Sprintf("sim: job %d is to run where processors are not free: %v", job.Handle, places))
		}
	}
	p.held[job.Handle] = places
	return intervals(places)
}

func (p *Places) end(job *batch.Job) {
	if p.free != nil {
		p.free.Release(p.held[job.Handle])
	}
}

// intervals writes processors as Batsim does: "0-3 7".
func intervals(places []batch.NodeAllocation) string {
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

package server

import (
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// needsOut returns what a job's tasks need for the wire; nil of a tombstone.
func (s *Server) needsOut(j *site.Job) *droverv1.TaskNeeds {
	if j.Needs == nil {
		return nil
	}
	out := &droverv1.TaskNeeds{DeclaredCpu: 1, DeclaredMemoryBytes: j.Needs.Memory}
	if cpu := j.Needs.CPU; cpu > 0 {
		out.DeclaredCpu = partOut(cpu)
	}
	if m, known := s.measuredNow(j); known {
		out.MeasuredCpu, out.MeasuredMemoryBytes = partOut(m.CPU), m.Memory
	}
	return out
}

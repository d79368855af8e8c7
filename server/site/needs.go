package site

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Edge says which jobs a batch system could ever run.
type Edge interface {
	// Check returns a *policy.NeedError for a need that nobody serves.
	Check(spec *batch.Job) error
}

// licenses returns what a job of a service holds: what the service needs, and what its
// request asks for beyond that. Neither list is changed.
func licenses(service, request []batch.License) []batch.License {
	if len(service) == 0 {
		return request
	}
	all := slices.Clone(service)
	for _, l := range request {
		i := slices.IndexFunc(all, func(k batch.License) bool { return k.Name == l.Name })
		if i < 0 {
			all = append(all, l)
			continue
		}
		all[i].Copies = max(all[i].Copies, l.Copies)
	}
	return all
}

// pace returns how fast the site is for a request, and the score of the machine on which
// its walltimes hold, 0 if they do on all. Those of a service with a score are for the
// slowest machine, so that no other one kills a job that goes as its model says; a
// walltime that a request brings is meant as it stands.
func (s *Site) pace(service *catalogue.Service, r *Request) (catalogue.Speed, int32) {
	if service.Score == 0 || s.slowest == 0 || r.Walltime != 0 {
		return s.config.Speed, 0
	}
	speed := int64(s.slowest) * int64(catalogue.Reference) / int64(service.Score)
	return catalogue.Speed(max(speed, 1)), s.slowest
}

// serve removes the shapes after begin that the batch system could never run. If there
// is none that it could, it says why not the first.
func (s *Site) serve(begin int, job *batch.Job) error {
	if s.config.Edge == nil {
		return nil
	}
	end, spec := begin, *job
	var first error
	for _, shape := range s.scratch.shapes[begin:] {
		spec.Shape = shape
		if err := s.config.Edge.Check(&spec); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		s.scratch.shapes[end] = shape
		end++
	}
	if end == begin {
		return needProblem(first)
	}
	s.scratch.shapes = s.scratch.shapes[:end]
	return nil
}

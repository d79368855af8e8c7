package site

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Accuracy compares the estimates for a service with what happened, for the last jobs that ended
// here by themselves or at their walltime. The records of jobs are the source: a restarted site
// computes it again from the records that are kept.
//
// A moved job counts at the site where it ended, with the estimate that it got there. Jobs whose
// estimate did not cover what happened do not count: a round of reallocation changed their
// position, they waited for dependencies, or they were retried.
type Accuracy struct {
	Service string
	Jobs    int
	Start   Errors
	End     Errors
	Run     batch.Share // median of runtime over estimate; batch.One if it was exact
	Kind    batch.Kind  // of the latest estimate
}

// Errors sums up what happened minus what was estimated, so late jobs count as positive.
type Errors struct {
	Bias   batch.Duration // mean
	Median batch.Duration
	P50    batch.Duration // of absolute errors
	P90    batch.Duration
}

// Limits of what is remembered.
const (
	samplesPerService  = 512
	maxSampledServices = 1000    // services
	maxRatio           = 1 << 10 // of a runtime to its estimate
)

// sample compares one job with its estimate.
type sample struct {
	start, end batch.Duration // errors
	run        batch.Share    // runtime over estimated
	kind       batch.Kind
}

// sampleLog is a ring of the last samples of a service.
type sampleLog struct {
	samples []sample
	next    int
	summary Accuracy // of the samples, unless stale
	stale   bool
}

func (l *sampleLog) add(s sample) {
	l.stale = true
	if len(l.samples) < samplesPerService {
		l.samples = append(l.samples, s)
		return
	}
	l.samples[l.next] = s
	l.next = (l.next + 1) % samplesPerService
}

// sampleOf returns the sample of a job; false if its estimate cannot be compared.
func sampleOf(j *Job) (sample, bool) {
	if j.State != Done && j.State != Killed || !j.Kept || j.Started == batch.Never || j.Estimate.Run <= 0 ||
		j.Transit != nil && j.Transit.Placed ||
		j.Retried > 0 || j.Needs != nil && j.Needs.After {
		return sample{}, false
	}
	from := j.Submitted
	if j.Transit != nil && j.Transit.Quoted != 0 {
		from = j.Transit.Quoted
	}
	ran := j.past().Done + j.Ended.Sub(j.Started)
	return sample{
		start: j.begun().Sub(from) - j.Estimate.Wait, end: j.Ended.Sub(from) - j.Estimate.Completion,
		run: ratio(ran, j.Estimate.Run), kind: j.Estimate.Kind,
	}, true
}

// ratio returns a/b, rounded down; b is above 0.
func ratio(a, b batch.Duration) batch.Share {
	if a <= 0 {
		return 0
	}
	if a/b >= maxRatio {
		return maxRatio * batch.One
	}
	for a > 1<<40 { // 12 days: the last bits do not matter
		a, b = a>>1, max(b>>1, 1)
	}
	return batch.Share(min(int64(a)*int64(batch.One)/int64(b), maxRatio*int64(batch.One)))
}

// addSample records the sample of a job that has ended.
func (s *Site) addSample(j *Job) {
	it, ok := sampleOf(j)
	if !ok {
		return
	}
	l := s.samples[j.Service]
	if l == nil {
		if len(s.samples) >= maxSampledServices {
			return
		}
		if s.samples == nil {
			s.samples = make(map[string]*sampleLog)
		}
		l = &sampleLog{}
		s.samples[j.Service] = l
	}
	l.add(it)
}

// restoreSamples records the samples of restored jobs in the order of their ends.
func (s *Site) restoreSamples() {
	var ended []*Job
	for _, j := range s.book.order {
		if j != nil && (j.State == Done || j.State == Killed) {
			ended = append(ended, j)
		}
	}
	slices.SortStableFunc(ended, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range ended {
		s.addSample(j)
	}
}

// AccuracyOf returns the accuracy of estimates for a service; false if it is unknown.
func (s *Site) AccuracyOf(service string) (Accuracy, bool) {
	l := s.samples[service]
	if l == nil {
		return Accuracy{}, false
	}
	if l.stale {
		l.summary, l.stale = summarize(service, l), false
	}
	return l.summary, true
}

// Accuracy returns the accuracy of estimates for all services, sorted by name.
func (s *Site) Accuracy() []Accuracy {
	names := make([]string, 0, len(s.samples))
	for name := range s.samples {
		names = append(names, name)
	}
	slices.Sort(names)
	all := make([]Accuracy, len(names))
	for i, name := range names {
		all[i], _ = s.AccuracyOf(name)
	}
	return all
}

func summarize(service string, l *sampleLog) Accuracy {
	n := len(l.samples)
	start, end, run := make([]batch.Duration, n), make([]batch.Duration, n), make([]batch.Share, n)
	for i, it := range l.samples {
		start[i], end[i], run[i] = it.start, it.end, it.run
	}
	slices.Sort(run)
	latest := l.samples[(l.next+n-1)%n]
	return Accuracy{
		Service: service, Jobs: n, Start: errorsOf(start), End: errorsOf(end), Run: run[rank(n, 50)], Kind: latest.kind,
	}
}

// errorsOf sums up at least one error. It changes the slice.
func errorsOf(all []batch.Duration) Errors {
	n := len(all)
	var mean batch.Duration
	for _, d := range all { // the sum of all errors could overflow
		mean += d / batch.Duration(n)
	}
	slices.Sort(all)
	e := Errors{Bias: mean, Median: all[rank(n, 50)]}
	for i, d := range all {
		all[i] = max(d, -d)
	}
	slices.Sort(all)
	e.P50, e.P90 = all[rank(n, 50)], all[rank(n, 90)]
	return e
}

// rank returns the index of a percentile among n sorted values (nearest rank).
func rank(n, percent int) int { return max((n*percent+99)/100-1, 0) }

package site

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Accuracy is how the estimates for a service were kept, by the last jobs of it that
// ended here by themselves or at their walltime. A job's record is the log: the
// estimate under which it came, and what happened. What is summed up here is made
// anew from the records that are kept when a site starts again.
//
// Jobs that have moved on are told of by the site where they ended, from the estimate
// under which they came there. A job that a round of reallocation has put elsewhere
// in the plan is left out: its estimate was not about that. So is one that has waited
// for others to end, or was started once more.
type Accuracy struct {
	Service string
	Jobs    int
	Start   Errors
	End     Errors
	Run     batch.Share // median of runtime over what was estimated; batch.One: as estimated
	Kind    batch.Kind  // of the latest estimate
}

// Errors are what happened minus what was estimated: positive of what came later.
type Errors struct {
	Bias   batch.Duration // mean
	Median batch.Duration
	P50    batch.Duration // of the amounts, early or late
	P90    batch.Duration
}

// The bounds of what is remembered.
const (
	samplesPerService = 512
	mostSampled       = 1000    // services
	largestRatio      = 1 << 10 // of a runtime to its estimate
)

// sample is one job's estimate against what happened.
type sample struct {
	start, end batch.Duration // errors
	run        batch.Share    // runtime over estimated
	kind       batch.Kind
}

// sampleLog is the last samples of a service, the oldest overwritten first.
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

// sampleOf returns what a job has to say about estimates, if anything.
func sampleOf(j *Job) (sample, bool) {
	if j.State != Done && j.State != Killed || !j.Kept || j.Started == batch.Never || j.Estimate.Run <= 0 || j.Transit != nil && j.Transit.Placed ||
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

// ratio returns a over b, b above 0, rounded down.
func ratio(a, b batch.Duration) batch.Share {
	if a <= 0 {
		return 0
	}
	if a/b >= largestRatio {
		return largestRatio * batch.One
	}
	for a > 1<<40 { // 12 days: the last bits do not matter
		a, b = a>>1, max(b>>1, 1)
	}
	return batch.Share(min(int64(a)*int64(batch.One)/int64(b), largestRatio*int64(batch.One)))
}

// learn notes how the estimate of a job that has ended was kept.
func (s *Site) learn(j *Job) {
	it, ok := sampleOf(j)
	if !ok {
		return
	}
	l := s.learnt[j.Service]
	if l == nil {
		if len(s.learnt) >= mostSampled {
			return
		}
		if s.learnt == nil {
			s.learnt = make(map[string]*sampleLog)
		}
		l = &sampleLog{}
		s.learnt[j.Service] = l
	}
	l.add(it)
}

// relearn takes up what the records of an earlier life say, in the order in which
// their jobs ended.
func (s *Site) relearn() {
	var ended []*Job
	for _, j := range s.book.order {
		if j != nil && (j.State == Done || j.State == Killed) {
			ended = append(ended, j)
		}
	}
	slices.SortStableFunc(ended, func(a, b *Job) int { return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.ID, b.ID)) })
	for _, j := range ended {
		s.learn(j)
	}
}

// AccuracyOf returns how estimates for a service were kept; false if nobody knows.
func (s *Site) AccuracyOf(service string) (Accuracy, bool) {
	l := s.learnt[service]
	if l == nil {
		return Accuracy{}, false
	}
	if l.stale {
		l.summary, l.stale = summarize(service, l), false
	}
	return l.summary, true
}

// Accuracy returns how estimates were kept, by the names of services.
func (s *Site) Accuracy() []Accuracy {
	names := make([]string, 0, len(s.learnt))
	for name := range s.learnt {
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
	return Accuracy{Service: service, Jobs: n, Start: errorsOf(start), End: errorsOf(end), Run: run[rank(n, 50)], Kind: latest.kind}
}

// errorsOf sums up errors, of which there is at least one, and changes them.
func errorsOf(all []batch.Duration) Errors {
	n := len(all)
	var mean batch.Duration
	for _, d := range all { // a sum of whole errors may be too large
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

// rank returns the index of a percentile among n sorted values: the nearest rank.
func rank(n, percent int) int { return max((n*percent+99)/100-1, 0) }

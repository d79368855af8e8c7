package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Question asks when a request would complete.
type Question struct {
	Request *Request
	From    batch.Time // earliest start, because the input is still on its way; 0 for now
}

// Quote says when a request would complete if it were submitted now.
type Quote struct {
	Shape batch.Shape    `json:"shape"` // the shape that the site chose
	Wait  batch.Duration `json:"wait"`  // from now to the start
	// from the start to the end: the walltime, unless jobs share processors
	Run        batch.Duration `json:"run"`
	Completion batch.Duration `json:"completion"` // Wait + Run, the ECT from now
	Kind       batch.Kind     `json:"kind"`
	P          float64        `json:"p,omitempty"` // probability, of a PROBABLE estimate
}

// Answer is a quote or the reason why there is none.
type Answer struct {
	Quote Quote
	Err   error // a *problem.Problem or ErrNoPlan
}

// scratch holds the buffers of quotes, so that requests with a menu allocate nothing in the steady
// state.
type scratch struct {
	job    batch.Job
	jobs   []batch.Job
	asks   []batch.Ask
	out    []batch.Estimate
	shapes []batch.Shape
	spans  []span
}

// span is the range of scratch.shapes that holds one question's menu.
type span struct{ from, to int }

// Quote answers one question and changes nothing. The error is a *problem.Problem or ErrNoPlan.
func (s *Site) Quote(now batch.Time, q Question, planner Planner) (Quote, error) {
	if s.draining {
		return Quote{}, s.drains()
	}
	s.scratch.shapes = s.scratch.shapes[:0]
	return s.quote(now, q, &s.scratch.job, planner)
}

// quote fills job with what the planner gets, and returns the quote of the best shape.
func (s *Site) quote(now batch.Time, q Question, job *batch.Job, planner Planner) (Quote, error) {
	if err := s.prepare(now, q.Request, job); err != nil {
		return Quote{}, err
	}
	menu := s.scratch.shapes
	if q.Request.Into != "" {
		return s.quoteInside(now, q, job, menu, planner)
	}
	c, ok := s.tuner.tune(now, batch.Ask{Job: job, Shapes: menu, From: s.from(now, q)}, planner)
	if !ok {
		return Quote{}, ErrNoPlan
	}
	if q.Request.Agreement != nil {
		return s.quoteAgreement(now, q, job, menu, c, planner)
	}
	return s.finishQuote(now, q.Request, menu, c)
}

// quotedAlone reports whether a request needs a call of the planner for itself: it has an agreement
// or runs in a reservation.
func quotedAlone(q Question) bool { return q.Request.Agreement != nil || q.Request.Into != "" }

// Quotes answers many questions, each as if it were the only one, and fills out, which has one
// element for each. With exhaustive tuning it calls the planner once.
func (s *Site) Quotes(now batch.Time, qs []Question, out []Answer, planner Planner) {
	if s.config.Tuning == Binary || s.draining || slices.ContainsFunc(qs, quotedAlone) {
		for i := range qs {
			out[i].Quote, out[i].Err = s.Quote(now, qs[i], planner)
		}
		return
	}
	sc := &s.scratch
	sc.shapes, sc.spans, sc.asks = sc.shapes[:0], sc.spans[:0], sc.asks[:0]
	if len(sc.jobs) < len(qs) {
		sc.jobs = make([]batch.Job, len(qs))
	}
	for i := range qs {
		begin := len(sc.shapes)
		out[i] = Answer{Err: s.prepare(now, qs[i].Request, &sc.jobs[i])}
		sc.spans = append(sc.spans, span{begin, len(sc.shapes)})
	}
	// The asks are built in a second loop, because scratch.shapes moves while it grows.
	for i := range qs {
		if out[i].Err == nil {
			menu := sc.shapes[sc.spans[i].from:sc.spans[i].to]
			sc.asks = append(sc.asks, batch.Ask{Job: &sc.jobs[i], Shapes: menu, From: s.from(now, qs[i]), Best: true})
		}
	}
	for len(sc.out) < len(sc.asks) {
		sc.out = append(sc.out, batch.Estimate{})
	}
	planned := len(sc.asks) > 0 && planner.Estimate(now, sc.asks, sc.out[:len(sc.asks)])
	asked := 0
	for i := range qs {
		switch {
		case out[i].Err != nil:
		case !planned:
			out[i].Err = ErrNoPlan
		default:
			menu := sc.asks[asked].Shapes
			out[i].Quote, out[i].Err = s.finishQuote(now, qs[i].Request, menu, best(menu, &sc.out[asked]))
			asked++
		}
	}
}

// from returns the earliest start of a question, 0 for now.
func (s *Site) from(now batch.Time, q Question) batch.Time {
	at := max(q.From, q.Request.EarliestStart)
	if delay := s.offer[q.Request.Service].delay(now); delay > 0 {
		at = max(at, now.Add(delay))
	}
	if at <= now {
		return 0
	}
	return at
}

// prepare appends the menu of a request to scratch.shapes and fills job. The menu has at least one
// shape unless prepare returns a *problem.Problem.
func (s *Site) prepare(now batch.Time, r *Request, job *batch.Job) error {
	var (
		values  catalogue.Values
		service *catalogue.Service
		err     error
	)
	*job = r.spec()
	if r.Site != "" && r.Site != s.config.Name {
		return s.boundElsewhere(r)
	}
	if err := s.withdrawn(now, r.Service); err != nil {
		return err
	}
	if s.config.Catalogue != nil {
		if service, err = s.config.Catalogue.Service(r.Service); err != nil {
			return catalogueProblem(err)
		}
		if values, err = service.Bind(r.Arguments); err != nil {
			return catalogueProblem(err)
		}
		if job.Memory == 0 {
			job.Memory = service.Memory
		}
		if job.Input == 0 {
			job.Input = values.Input()
		}
		job.Licenses = licenses(service.Licenses, r.Licenses)
	}
	job.Resident = s.config.PausedKeepMemory && (service == nil || !service.Checkpoints())
	if agreed := s.agreed(r); agreed != nil {
		job.Checkpoint = agreed.Checkpoint
	}
	begin := len(s.scratch.shapes)
	switch {
	case len(r.Menu) > 0:
		err = s.appendMenu(r.Menu, job.Memory)
	case service == nil:
		return problem.Field(problem.BadValue, "request.shapes", "at least one shape",
			"no shapes, and this site has no catalogue")
	default:
		var speed catalogue.Speed
		speed, job.Reference = s.speedFor(service, r)
		shapes, wrong := service.Shapes(values, catalogue.Want{
			Width: r.Width, Walltime: r.Walltime, Longest: s.maxWalltime(),
		}, s.width, speed)
		if wrong != nil {
			return catalogueProblem(wrong)
		}
		err = s.appendShapes(shapes, job.Memory)
	}
	if err != nil {
		return err
	}
	return s.limitToRunnable(begin, job)
}

// appendMenu appends the shapes of a client's menu that fit this site, scaled to its speed.
func (s *Site) appendMenu(menu []batch.Shape, memory int64) error {
	if menu[0].Width > s.width {
		return problem.Field(problem.TooWide, "request.width", fmt.Sprintf("1..%d at this site", s.width), "width %d",
			menu[0].Width)
	}
	end := len(menu)
	for menu[end-1].Width > s.width {
		end--
	}
	begin := len(s.scratch.shapes)
	s.scratch.shapes = append(s.scratch.shapes, menu[:end]...)
	if speed := s.config.Speed; speed != catalogue.Reference {
		for i := range s.scratch.shapes[begin:] {
			shape := &s.scratch.shapes[begin+i]
			shape.Walltime = speed.Walltime(shape.Walltime)
		}
	}
	if err := s.limitWalltime(begin); err != nil {
		return err
	}
	return s.limitMemory(begin, memory)
}

// limitWalltime removes the shapes after begin that exceed the site's longest walltime.
func (s *Site) limitWalltime(begin int) error {
	end := begin
	shortest := batch.Forever
	for _, shape := range s.scratch.shapes[begin:] {
		shortest = min(shortest, shape.Walltime)
		if shape.Walltime <= s.maxWalltime() {
			s.scratch.shapes[end] = shape
			end++
		}
	}
	if end == begin {
		return problem.Field(problem.TooLong, "request.walltime", fmt.Sprintf("1s..%v at this site", s.maxWalltime()),
			"walltime %v", shortest)
	}
	s.scratch.shapes = s.scratch.shapes[:end]
	return nil
}

// appendShapes appends shapes that the catalogue made for this site.
func (s *Site) appendShapes(shapes []batch.Shape, memory int64) error {
	begin := len(s.scratch.shapes)
	s.scratch.shapes = append(s.scratch.shapes, shapes...)
	return s.limitMemory(begin, memory)
}

// limitMemory removes the shapes after begin with memory that does not fit. These are the widest,
// because the charge grows with the width.
func (s *Site) limitMemory(begin int, memory int64) error {
	if s.perProcessor == 0 || memory == 0 {
		return nil
	}
	if memory > s.nodeMemory {
		return problem.Field(problem.NoMemory, "request.memory_bytes",
			fmt.Sprintf("at most %d, the memory of the largest node", s.nodeMemory),
			"%d bytes for each task", memory)
	}
	end := len(s.scratch.shapes)
	for end > begin && batch.Charge(s.scratch.shapes[end-1].Width, memory, s.perProcessor) > s.processors {
		end--
	}
	if end == begin {
		w := s.scratch.shapes[begin].Width
		return problem.Field(problem.NoMemory, "request.memory_bytes",
			fmt.Sprintf("at most %d in all", s.perProcessor*int64(s.processors)), "%d tasks of %d bytes each", w,
			memory)
	}
	s.scratch.shapes = s.scratch.shapes[:end]
	return nil
}

// finishQuote turns a choice into a quote.
func (s *Site) finishQuote(now batch.Time, r *Request, menu []batch.Shape, c choice) (Quote, error) {
	if c.index < 0 {
		return Quote{}, problem.Field(problem.CannotRun, "request", "needs that the site's nodes meet",
			"no shape of it can ever start here")
	}
	q := quoteOf(now, menu, c)
	if len(r.After) > 0 { // the end of its dependencies is unknown
		q.Kind, q.P = batch.Forecast, 0
	}
	if r.Deadline > 0 && c.end > r.Deadline {
		return Quote{}, problem.Field(problem.TooLate, "request.deadline",
			fmt.Sprintf("at least %v from now", reachable(q.Completion)), "%v from now",
			r.Deadline.Sub(now).CeilSeconds())
	}
	return q, nil
}

func quoteOf(now batch.Time, menu []batch.Shape, c choice) Quote {
	return Quote{
		Shape: menu[c.index], Wait: c.start.Sub(now), Run: c.end.Sub(c.start), Completion: c.end.Sub(now), Kind: c.kind,
		P: c.p,
	}
}

// Edge knows which jobs a batch system can ever run.
type Edge interface {
	// Check returns a *policy.NeedError for a need that no node meets.
	Check(spec *batch.Job) error
}

// licenses returns what a job of a service holds: what the service needs, and what its request
// adds. It changes neither list.
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

// speedFor returns the speed of the site for a request, and the score of the machine for which its
// walltimes hold, 0 if they hold on all. A service with a score gets the walltimes of the slowest
// machine, so that no other machine kills a job that runs as its model says. A walltime in the
// request is not scaled.
func (s *Site) speedFor(service *catalogue.Service, r *Request) (catalogue.Speed, int32) {
	if service.Score == 0 || s.slowest == 0 || r.Walltime != 0 {
		return s.config.Speed, 0
	}
	speed := int64(s.slowest) * int64(catalogue.Reference) / int64(service.Score)
	return catalogue.Speed(max(speed, 1)), s.slowest
}

// limitToRunnable removes the shapes after begin that the batch system can never run. If none is
// left, the error is about the first one.
func (s *Site) limitToRunnable(begin int, job *batch.Job) error {
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

// UnrunnableJob is a waiting job that the site, in its present configuration, can never run.
type UnrunnableJob struct {
	Job Job
	Why string // for users
}

// Unrunnable returns the first jobs, at most most of them, that wait here or are on their way here
// and can never run here, and the number of all such jobs. They exist after a restart with another
// machine or another catalogue.
func (s *Site) Unrunnable(most int) (list []UnrunnableJob, n int) {
	for _, j := range s.book.order {
		if j == nil || j.Needs == nil || j.State.Final() || j.busy {
			continue
		}
		why := s.whyUnrunnable(j)
		if why == "" {
			continue
		}
		if n++; len(list) < most {
			list = append(list, UnrunnableJob{Job: *j, Why: why})
		}
	}
	return list, n
}

// whyUnrunnable returns the reason why a job can never run here, "" if it can.
func (s *Site) whyUnrunnable(j *Job) string {
	if charge := s.charge(j); charge > s.processors {
		return fmt.Sprintf("it takes %d processors, and the machine has %d", charge, s.processors)
	}
	if s.config.Edge != nil {
		if err := s.config.Edge.Check(j.Spec()); err != nil {
			return err.Error()
		}
	}
	if s.config.Catalogue != nil {
		if _, err := s.config.Catalogue.Service(j.Service); err != nil {
			return err.Error()
		}
	}
	return ""
}

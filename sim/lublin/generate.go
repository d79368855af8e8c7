package lublin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// generator generates one workload.
type generator struct {
	cfg     *Config
	random  *random
	streams []*stream
	jobs    []swf.Job // without submission times until place sets them
	came    []arrival // arrivals of the jobs, before scaling
	area    float64   // total area of the jobs, in processor-seconds
}

// arrival is the arrival of a job.
type arrival struct {
	even float64
	from uint8 // index of the stream
}

// Generate generates a workload with a header that records how to generate it again. The error is
// that of [Config.Validate], a [*FieldError] if the workload exceeds the limits of its format
// or of this package, or that of ctx.
func Generate(ctx context.Context, cfg Config) (*swf.Trace, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g := &generator{cfg: &cfg, random: newRandom(cfg.Seed)}
	for _, p := range cfg.Classes.parameters() {
		g.streams = append(g.streams, newStream(p, cfg.Procs))
	}
	if err := g.draw(ctx); err != nil {
		return nil, err
	}
	factor, err := g.factor()
	if err != nil {
		return nil, err
	}
	g.place(factor)
	return &swf.Trace{Header: g.header(factor), Jobs: g.jobs}, nil
}

// OfferedLoad returns the sum of width times runtime over the processors and the last arrival;
// 0 without jobs.
func OfferedLoad(jobs []swf.Job, procs int) float64 {
	if len(jobs) == 0 || jobs[len(jobs)-1].Submit == 0 {
		return 0
	}
	area := 0.
	for i := range jobs {
		area += float64(float64(jobs[i].Run) * float64(jobs[i].ReqProcs))
	}
	return area / (float64(procs) * float64(jobs[len(jobs)-1].Submit))
}

// draw draws the jobs in the order of arrival before scaling.
func (g *generator) draw(ctx context.Context) error {
	const chunk = 1 << 16 // jobs between checks of ctx
	end := float64(g.cfg.Days) * secondsADay
	budget := g.cfg.Load * (float64(g.cfg.Procs) * end)
	g.jobs, g.came = make([]swf.Job, 0, g.cfg.Jobs), make([]arrival, 0, g.cfg.Jobs)
	for _, s := range g.streams {
		s.advance(g.random)
	}
	for {
		n := len(g.jobs)
		from := earliest(g.streams)
		s := g.streams[from]
		switch {
		case g.cfg.Days == 0 && n == g.cfg.Jobs, g.cfg.Days > 0 && !g.cfg.scaled() && s.clock >= end:
			return nil
		case n%chunk == 0 && ctx.Err() != nil:
			return ctx.Err()
		}
		job := g.job(s)
		area := float64(job.Run) * float64(job.ReqProcs)
		if g.cfg.Days > 0 && g.cfg.scaled() && n > 0 && g.area+float64(area) > budget {
			return nil
		}
		if n == MaxJobs {
			return &FieldError{
				Field: "days", Value: strconv.Itoa(g.cfg.Days),
				Accepted: "as many as have " + strconv.Itoa(MaxJobs) + " jobs; these have more",
			}
		}
		g.area += float64(area)
		g.jobs, g.came = append(g.jobs, job), append(g.came, arrival{s.even, uint8(from)})
		s.advance(g.random)
	}
}

// job draws the next job of a stream. It also draws what the Config does not request, so that
// requesting it changes nothing else.
func (g *generator) job(s *stream) swf.Job {
	width := s.widths.draw(g.random)
	run := s.runtimes.draw(g.random, width)
	request := g.cfg.Estimates.request(run, g.random.uniform())
	user := int32(swf.Unknown)
	if u := g.random.uniform(); g.cfg.Users > 0 {
		user = 1 + int32(u*float64(g.cfg.Users))
	}
	return swf.Job{
		Wait: swf.Unknown, Run: run, AvgCPU: swf.Unknown, UsedMem: swf.Unknown, ReqTime: request, ReqMem: swf.Unknown,
		PrecedingJob: swf.Unknown, ThinkTime: swf.Unknown, UsedProcs: width, ReqProcs: width, User: user,
		Group: swf.Unknown,
		App:   swf.Unknown, Queue: s.params.queue, Partition: swf.Unknown, Status: swf.StatusCompleted,
	}
}

// factor returns the factor for the gaps. The load determines when the last job has to arrive;
// the stream with the latest arrival decides.
func (g *generator) factor() (float64, error) {
	factor := 1.
	if g.cfg.scaled() {
		end := g.area / (g.cfg.Load * float64(g.cfg.Procs))
		first := true
		for _, s := range g.streams {
			if s.last <= 0 {
				continue // no job of it was taken
			}
			if f := s.cycle.evenAt(end) / s.last; first || f < factor {
				factor, first = f, false
			}
		}
	}
	latest := 0.
	for _, s := range g.streams {
		latest = max(latest, s.cycle.clockAt(float64(s.last*factor)))
	}
	if latest <= swf.MaxSeconds {
		return factor, nil
	}
	e := &FieldError{
		Field: "jobs", Value: strconv.Itoa(g.cfg.Jobs),
		Accepted: fmt.Sprintf("fewer: the last one would come after %d s, the most a workload can have",
			swf.MaxSeconds),
	}
	if g.cfg.scaled() {
		e.Accepted += "; or a higher load than " + decimal(g.cfg.Load)
	}
	return 0, e
}

// place sets the submission times and the numbers of the jobs.
func (g *generator) place(factor float64) {
	for i, a := range g.came {
		g.jobs[i].Submit = int64(g.streams[a.from].cycle.clockAt(float64(a.even * factor)))
	}
	if len(g.streams) > 1 { // scaling shifts streams with different cycles relative to each other
		slices.SortStableFunc(g.jobs, func(a, b swf.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	}
	for i := range g.jobs {
		g.jobs[i].ID = int64(i + 1)
	}
}

// header describes the jobs, and how to generate them again.
func (g *generator) header(factor float64) swf.Header {
	var h swf.Header
	cfg := g.cfg
	count, procs := strconv.Itoa(len(g.jobs)), strconv.Itoa(cfg.Procs)
	h.Add("Version", "2.2")
	h.Add("Computer", "a model of "+procs+" processors")
	h.Add("Acknowledge", "U. Lublin and D. G. Feitelson, The workload on parallel supercomputers: modeling the "+
		"characteristics of rigid jobs, JPDC 63(11), 2003")
	h.Add("Information", "https://www.cs.huji.ac.il/labs/parallel/workload/m_lublin99/")
	h.Add("MaxJobs", count)
	h.Add("MaxRecords", count)
	h.Add("UnixStartTime", "0")
	h.Add("TimeZoneString", "UTC")
	h.Add("MaxNodes", procs)
	h.Add("MaxProcs", procs)
	h.Add("MaxRuntime", strconv.Itoa(MaxRuntime))
	if cfg.Classes != Undivided {
		h.Add("Queue", strconv.Itoa(int(interactiveJobs.queue))+" interactive")
		h.Add("Queue", strconv.Itoa(int(batchJobs.queue))+" batch")
	}
	length := "jobs " + strconv.Itoa(cfg.Jobs)
	if cfg.Days > 0 {
		length = "days " + strconv.Itoa(cfg.Days)
	}
	asked := "of the model"
	if cfg.scaled() {
		asked = decimal(cfg.Load)
	}
	h.Add("Note", "Lublin-Feitelson model, made by drover sim generate")
	h.Add("Note", fmt.Sprintf("seed %d, %s, procs %d, load %s, classes %s, estimates %s, users %d",
		cfg.Seed, length, cfg.Procs, asked, cfg.Classes, cfg.Estimates, cfg.Users))
	h.Add("Note", fmt.Sprintf("offered load %.4f; the gaps of the model times %.6f", OfferedLoad(g.jobs, cfg.Procs),
		factor))
	for _, s := range g.streams {
		s.note(&h)
	}
	return h
}

// note records the parameters of a stream, as fitted to the machine.
func (s *stream) note(h *swf.Header) {
	p, w := s.params, &s.widths
	h.Add("Note", fmt.Sprintf("%s: width: serial %g, power of two %g, log2 low %.4g, middle %.4g, high %.4g, first %g",
		p.name, p.serial, p.powerOfTwo, w.low, w.middle, w.high, w.first))
	h.Add("Note", fmt.Sprintf("%s: log runtime: gamma(%g, %g) with probability %g - %g * width, else gamma(%g, %g)",
		p.name, p.shortShape, p.shortScale, p.base, -p.slope, p.longShape, p.longScale))
	h.Add("Note", fmt.Sprintf("%s: log gap: gamma(%g * %g, %g); half hours of the day: gamma(%g, %g)",
		p.name, p.gapShape, p.ratio, p.gapScale, p.dayShape, p.dayScale))
}

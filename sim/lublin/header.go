package lublin

import (
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// header says what the jobs are, and how to make them again.
func (g *generator) header(factor float64) swf.Header {
	var h swf.Header
	cfg := g.cfg
	count, procs := strconv.Itoa(len(g.jobs)), strconv.Itoa(cfg.Procs)
	h.Add("Version", "2.2")
	h.Add("Computer", "a model of "+procs+" processors")
	h.Add("Acknowledge", "U. Lublin and D. G. Feitelson, The workload on parallel supercomputers: modeling the characteristics of rigid jobs, JPDC 63(11), 2003")
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
	h.Add("Note", fmt.Sprintf("offered load %.4f; the gaps of the model times %.6f", OfferedLoad(g.jobs, cfg.Procs), factor))
	for _, s := range g.streams {
		s.note(&h)
	}
	return h
}

// note writes down the parameters of a stream, as fitted to the machine.
func (s *stream) note(h *swf.Header) {
	p, w := s.params, &s.widths
	h.Add("Note", fmt.Sprintf("%s: width: serial %g, power of two %g, log2 low %.4g, middle %.4g, high %.4g, first %g",
		p.name, p.serial, p.powerOfTwo, w.low, w.middle, w.high, w.first))
	h.Add("Note", fmt.Sprintf("%s: log runtime: gamma(%g, %g) with probability %g - %g * width, else gamma(%g, %g)",
		p.name, p.shortShape, p.shortScale, p.base, -p.slope, p.longShape, p.longScale))
	h.Add("Note", fmt.Sprintf("%s: log gap: gamma(%g * %g, %g); half hours of the day: gamma(%g, %g)",
		p.name, p.gapShape, p.ratio, p.gapScale, p.dayShape, p.dayScale))
}

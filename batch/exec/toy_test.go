package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// toy is FCFS on a count of processors. It records its events, and tests can script its
// decisions.
type toy struct {
	free       int32
	queue      []*batch.Job
	held       map[batch.Handle]bool // or reserved
	moves      map[batch.Handle]bool
	known      map[batch.Handle]*batch.Job
	kind       batch.Kind // of its estimates; 0: no plan
	log        []string
	epoch      batch.Time // instant of the first submission
	script     []line
	last       batch.Time             // of Decide
	allocation []batch.NodeAllocation // of every job; nil: any
}

// line is a scripted decision at a time after the first submission.
type line struct {
	after batch.Duration
	batch.Decision
}

func newToy(width int32, script ...line) *toy {
	return &toy{
		free: width, held: map[batch.Handle]bool{}, moves: map[batch.Handle]bool{},
		known: map[batch.Handle]*batch.Job{}, script: script,
	}
}

func (p *toy) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Submit || ev.Kind == batch.Reserve {
		if p.epoch == 0 {
			p.epoch = now
		}
		p.queue = append(p.queue, ev.Spec)
		p.known[ev.Spec.Handle] = ev.Spec
	}
	if ev.Kind == batch.Adopt {
		p.known[ev.Job] = ev.Spec
		p.free -= ev.Spec.Shape.Width
	}
	if ev.Kind == batch.NodeUp || ev.Kind == batch.NodeDown {
		p.log = append(p.log, fmt.Sprintf("%v %d", ev.Kind, ev.Node))
		return
	}
	job := p.known[ev.Job]
	entry := fmt.Sprintf("%v %s", ev.Kind, job.Name)
	switch ev.Kind {
	case batch.Finish:
		if ev.Broken {
			entry += " broken"
		}
		p.free += job.Shape.Width
		delete(p.known, ev.Job)
	case batch.Cancel:
		p.queue = slices.DeleteFunc(p.queue, func(j *batch.Job) bool { return j == job })
		delete(p.held, ev.Job)
	case batch.StartFailed:
		p.free += job.Shape.Width
		p.queue = append(p.queue, job)
	case batch.Measured:
		entry += fmt.Sprintf(" group %d: %d, %d bytes", ev.Group, ev.CPU, ev.Memory)
	case batch.Stopped:
		if p.moves[ev.Job] {
			delete(p.moves, ev.Job)
		} else {
			p.free += job.Shape.Width
		}
		entry += fmt.Sprintf(" %v", ev.Progress)
	case batch.Hold, batch.Reserve:
		p.held[ev.Job] = true
	case batch.Confirm:
		delete(p.held, ev.Job)
	case batch.Place:
		entry += p.place(job, ev)
	}
	p.log = append(p.log, entry)
}

// place queues a copy of the job with its new shape, and returns the line to record.
func (p *toy) place(job *batch.Job, ev *batch.Event) string {
	entry := ""
	placed := *job
	if placed.Shape != ev.Shape {
		placed.Shape = ev.Shape
		entry += " as " + ev.Shape.String()
	}
	delete(p.held, ev.Job)
	p.known[ev.Job] = &placed
	i := slices.Index(p.queue, job)
	if ev.Restore {
		p.queue[i] = &placed
		return entry + " back"
	}
	p.queue = append(slices.Delete(p.queue, i, i+1), &placed)
	return entry
}

func (p *toy) Decide(now batch.Time, out *batch.Decisions) {
	if now <= p.last {
		panic("two passes at one instant")
	}
	p.last = now
	for len(p.script) > 0 && p.Wake() <= now {
		d := p.script[0]
		p.script = p.script[1:]
		switch d.Kind {
		case batch.Resume:
			p.free -= p.known[d.Job].Shape.Width
		case batch.Migrate:
			p.moves[d.Job] = true
		}
		out.Add(d.Kind, d.Job, d.Allocation...)
	}
	for i := 0; i < len(p.queue); {
		job := p.queue[i]
		if p.held[job.Handle] {
			i++
			continue
		}
		if job.Shape.Width > p.free {
			return
		}
		p.free -= job.Shape.Width
		p.queue = slices.Delete(p.queue, i, i+1)
		out.Add(batch.Start, job.Handle, p.allocation...)
	}
}

func (p *toy) Wake() batch.Time {
	if len(p.script) == 0 || p.epoch == 0 {
		return batch.Never
	}
	return p.epoch.Add(p.script[0].after)
}

func (p *toy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	for i := range asks {
		out[i].Kind = p.kind
		for j := range out[i].Grow(len(asks[i].Shapes)) {
			out[i].Starts[j] = now
		}
	}
	if p.kind == 0 {
		return struct{ batch.Runnable }{}
	}
	return nil
}

func (p *toy) Fork() batch.Policy { return p }

func (p *toy) received() string { return strings.Join(p.log, ", ") }

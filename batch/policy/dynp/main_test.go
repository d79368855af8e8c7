package dynp_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

// job is a job of a workload; times are in seconds.
type job struct{ Submit, From, Width, Walltime, Runtime int }

func at(s int) batch.Time { return batch.Time(s) * batch.Time(batch.Second) }

// diary is an engine.Observer that records when jobs start and end.
type diary []string

func (d *diary) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	*d = append(*d, fmt.Sprintf("%d: #%d starts", now/batch.Time(batch.Second), job.Handle))
}

func (d *diary) Ended(now batch.Time, job *batch.Job, _ bool) {
	*d = append(*d, fmt.Sprintf("%d: #%d ends", now/batch.Time(batch.Second), job.Handle))
}

// play runs jobs through a policy, in order of submission. Handles are indices plus one. It
// calls after at the end of each pass.
func play(p batch.Policy, platform batch.Platform, jobs []job, after func(now batch.Time)) diary {
	var d diary
	e := engine.New(p, &d, engine.NewLedger(platform))
	for i := 0; ; {
		next := e.Next()
		if i < len(jobs) {
			next = min(next, at(jobs[i].Submit))
		}
		if next == batch.Never {
			return d
		}
		e.Advance(next)
		for ; i < len(jobs) && at(jobs[i].Submit) == next; i++ {
			j := jobs[i]
			shape := batch.Shape{Width: int32(j.Width), Walltime: batch.Duration(at(j.Walltime))}
			e.Submit(&batch.Job{Handle: batch.Handle(i + 1), Shape: shape, EarliestStart: at(j.From)},
				batch.Duration(at(j.Runtime)))
		}
		e.Pass()
		if after != nil {
			after(next)
		}
	}
}

// queue returns dynP with waiting jobs on a machine that is busy with jobs of various ends, and
// the current time.
func queue(s batch.Settings, processors int32, waiting int) (*dynp.Policy, batch.Time) {
	made, err := dynp.New(batch.Platform{Nodes: []batch.Node{{Processors: processors}}}, s)
	if err != nil {
		panic(err)
	}
	p := made.(*dynp.Policy)
	r := rand.New(rand.NewPCG(1, 2))
	now, free, h := batch.Time(0), processors, batch.Handle(1)
	for n := 0; n < waiting; h++ {
		width := min(int32(1)<<r.IntN(7), processors)
		wall := batch.Duration(1+r.IntN(1080)) * batch.Minute
		if free -= width; free < 0 {
			n++
		}
		now += batch.Time(r.IntN(int(batch.Minute)))
		p.Apply(now, &batch.Event{
			Kind: batch.Submit, Job: h, Spec: &batch.Job{Handle: h, Shape: batch.Shape{Width: width, Walltime: wall}},
		})
		if n <= 1 {
			p.Decide(now, &batch.Decisions{})
		}
	}
	p.Decide(now, &batch.Decisions{})
	return p, now
}

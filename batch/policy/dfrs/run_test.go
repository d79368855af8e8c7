package dfrs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// arrival is a job in the workload of a test.
type arrival struct {
	at   batch.Time
	spec batch.Job
	work batch.Duration
}

// observed records when jobs start and end, by handle.
type observed struct {
	begun, ended map[batch.Handle]batch.Time
	decided      []string
	log          bool
}

func newObserved() *observed {
	return &observed{begun: map[batch.Handle]batch.Time{}, ended: map[batch.Handle]batch.Time{}}
}

func (o *observed) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	o.begun[job.Handle] = now
}

func (o *observed) Ended(now batch.Time, job *batch.Job, _ bool) {
	o.ended[job.Handle] = now
	if o.log {
		o.decided = append(o.decided, fmt.Sprintf("%g end #%d", now.Sub(0).Seconds(), job.Handle))
	}
}

// Decided records a decision as TIME KIND #JOB NODE:TASKS@PERCENT...
func (o *observed) Decided(now batch.Time, job *batch.Job, d *batch.Decision) {
	if !o.log {
		return
	}
	s := fmt.Sprintf("%g %v #%d", now.Sub(0).Seconds(), d.Kind, job.Handle)
	for _, p := range d.Allocation {
		s += fmt.Sprintf(" %d:%d@%d%%", p.Node, p.Processors, (int64(p.Share)*100+int64(batch.One)/2)/int64(batch.One))
	}
	o.decided = append(o.decided, s)
}

// replay runs a workload through a policy until no events are left.
func replay(p batch.Policy, o engine.Observer, l *engine.Ledger, jobs []arrival) {
	e := engine.New(p, o, l)
	for next := 0; ; {
		now := e.Next()
		if next < len(jobs) {
			now = min(now, jobs[next].at)
		}
		if now == batch.Never {
			return
		}
		e.Advance(now)
		for ; next < len(jobs) && jobs[next].at == now; next++ {
			e.Submit(&jobs[next].spec, jobs[next].work)
		}
		e.Pass()
	}
}

func cluster(nodes int, memory int64) batch.Platform {
	p := batch.Platform{Nodes: make([]batch.Node, nodes)}
	for i := range p.Nodes {
		p.Nodes[i] = batch.Node{Processors: 1, Memory: memory}
	}
	return p
}

func policy(t testing.TB, p batch.Platform, s batch.Settings) *dfrs.Policy {
	t.Helper()
	d, err := dfrs.New(p, s)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*dfrs.Policy)
}

// random draws a workload like those of the paper: memories of 10% to 100% of a node.
func random(seed uint64, n, nodes int, gap batch.Duration) []arrival {
	r := rand.New(rand.NewPCG(seed, 1))
	jobs := make([]arrival, n)
	at := batch.Time(0)
	for i := range jobs {
		at = at.Add(batch.Duration(r.ExpFloat64() * float64(gap)))
		j := &jobs[i]
		width := int32(1) << r.IntN(7)
		j.at, j.work = at, batch.Duration(r.ExpFloat64()*r.ExpFloat64()*3600*float64(batch.Second))+batch.Second
		j.spec = batch.Job{
			Handle: batch.Handle(i + 1), CPU: batch.One, Memory: 10,
			Shape: batch.Shape{Width: min(width, int32(nodes)), Walltime: 2 * j.work},
		}
		if j.spec.Shape.Width == 1 {
			j.spec.CPU = batch.One / 4
		}
		if r.IntN(100) < 45 {
			j.spec.Memory = int64(10 * (2 + r.IntN(9)))
		}
	}
	return jobs
}

func TestEveryAlgorithmEndsAllJobsWithinTheMachine(t *testing.T) {
	platform := cluster(16, 100)
	for _, a := range append(dfrs.All(), dfrs.EquiPartition) {
		t.Run(a.String(), func(t *testing.T) {
			p := policy(t, platform, batch.Settings{"algorithm": a.String(), "period": "600s"})
			o := newObserved()
			jobs := random(7, 120, 16, 400*batch.Second)
			replay(p, o, engine.NewLedger(platform), jobs)
			if len(o.ended) != len(jobs) {
				t.Errorf("%d of %d jobs have ended", len(o.ended), len(jobs))
			}
			t.Logf("%+v", p.Counts())
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	platform := cluster(120, 100)
	for _, name := range []string{"Greedy*", "GreedyP*", "GreedyPM*", dfrs.Recommended.String()} {
		b.Run(name, func(b *testing.B) {
			jobs := random(3, 20000, 120, 600*batch.Second)
			for b.Loop() {
				p := policy(b, platform, batch.Settings{"algorithm": name})
				replay(p, newObserved(), nil, jobs)
				b.ReportMetric(float64(p.Counts().Paused), "pauses")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*len(jobs)), "ns/event")
		})
	}
}

package convergent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent"
)

const second = batch.Time(batch.Second)

// machines returns a farm of machines with the given scores and 8 processors each.
func machines(scores ...int32) batch.Platform {
	var p batch.Platform
	for i, s := range scores {
		p.Nodes = append(p.Nodes, batch.Node{Name: fmt.Sprint("m", i), Processors: 8, Score: s})
	}
	return p
}

// arrival is a job and its submission time in seconds.
type arrival struct {
	at  int
	job batch.Job
}

// job returns a job of one processor that takes length seconds on a machine of score 100; by is
// its deadline in seconds, 0 for none.
func job(h batch.Handle, length, by int, licenses ...string) batch.Job {
	j := batch.Job{
		Handle: h, Shape: batch.Shape{Width: 1, Walltime: batch.Duration(length) * batch.Second},
		Reference: 100, Deadline: batch.Time(by) * second, Checkpoint: true,
	}
	for _, l := range licenses {
		j.Licenses = append(j.Licenses, batch.License{Name: l, Copies: 1})
	}
	return j
}

// diary is an engine.Watcher that records decisions, in seconds.
type diary struct {
	lines []string
	ended int
	late  int
}

func (d *diary) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

func (d *diary) Decided(now batch.Time, job *batch.Job, what *batch.Decision) {
	s := fmt.Sprintf("%g %v #%d", now.Sub(0).Seconds(), what.Kind, job.Handle)
	for _, l := range what.Allocation {
		s += fmt.Sprintf(" m%d", l.Node)
	}
	d.lines = append(d.lines, s)
}

func (d *diary) Ended(now batch.Time, job *batch.Job, _ bool) {
	d.ended++
	if job.Deadline > 0 && now > job.Deadline {
		d.late++
	}
	d.lines = append(d.lines, fmt.Sprintf("%g end #%d", now.Sub(0).Seconds(), job.Handle))
}

// policy returns a policy with the given settings.
func policy(t testing.TB, p batch.Platform, s batch.Settings) batch.Policy {
	t.Helper()
	made, err := convergent.New(p, s)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// play runs jobs on a farm under a ledger until all have ended.
func play(t testing.TB, p batch.Policy, platform batch.Platform, list []arrival) *diary {
	t.Helper()
	d := &diary{}
	e := engine.New(p, d, engine.NewLedger(platform))
	e.Machine(platform)
	jobs := len(list)
	for {
		next := e.Next()
		if len(list) > 0 {
			next = min(next, batch.Time(list[0].at)*second)
		}
		if next == batch.Never {
			break
		}
		e.Advance(next)
		for ; len(list) > 0 && batch.Time(list[0].at)*second == next; list = list[1:] {
			e.Submit(&list[0].job, list[0].job.Shape.Walltime)
		}
		e.Pass()
	}
	if d.ended != jobs {
		t.Fatalf("%d of %d jobs have ended:\n%v", d.ended, jobs, d.lines)
	}
	return d
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// crowd draws a farm and jobs within the ranges of the paper's section 6, with a mean
// interarrival time of gap seconds.
func crowd(seed uint64, nodes, licenses, jobs, gap int) (batch.Platform, []arrival) {
	r := rand.New(rand.NewPCG(seed, 10))
	var p batch.Platform
	for l := range licenses {
		p.Licenses = append(p.Licenses, batch.LicensePool{
			Name: fmt.Sprint("l", l), Copies: int32(max(1, nodes*(55+r.IntN(11))/100)),
		})
	}
	for m := range nodes {
		n := batch.Node{Name: fmt.Sprint("m", m), Score: int32(200 + r.IntN(401)), Processors: int32(1 + r.IntN(8))}
		for l := range licenses {
			if r.IntN(100) < 90 {
				n.Licenses = append(n.Licenses, fmt.Sprint("l", l))
			}
		}
		p.Nodes = append(p.Nodes, n)
	}
	var list []arrival
	at := 0.0
	for i := range jobs {
		at += r.ExpFloat64() * float64(gap)
		length := 500 + r.IntN(2501)
		j := job(batch.Handle(i+1), length, 0)
		j.Shape.Width, j.Reference = int32(1+r.IntN(8)), int32(200+r.IntN(401))
		j.Site, j.Input = fmt.Sprint("m", r.IntN(nodes)), int64(100+r.IntN(701))<<20
		if by := int(at) + length*(125+r.IntN(126))/100; r.IntN(10) < 7 {
			j.Deadline = batch.Time(by) * second
		}
		for l := range licenses {
			if r.IntN(100) < 20 {
				j.Licenses = append(j.Licenses, batch.License{Name: fmt.Sprint("l", l), Copies: 1})
			}
		}
		if validate(p, &j, batch.Time(at)*second) != nil {
			j.Shape.Width, j.Licenses = 1, nil
		}
		list = append(list, arrival{int(at), j})
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return a.at - b.at })
	return p, list
}

// validate returns an error if a platform can never run a job.
func validate(p batch.Platform, spec *batch.Job, submitted batch.Time) error {
	edge, err := convergent.NewEdge(p)
	if err != nil {
		return err
	}
	return edge.Validate(spec, submitted)
}

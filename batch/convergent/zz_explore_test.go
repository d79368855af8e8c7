package convergent_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/convergent"
	"github.com/seed-9b8f70bb/drover/sim/engine"
)

type tally struct {
	begun    map[batch.Handle]batch.Time
	late     int
	due      int
	none     int
	slow     float64
	decided  map[batch.DecisionKind]int
	deadline map[batch.Handle]batch.Time
	submit   map[batch.Handle]batch.Time
	ended    int
}

func (d *tally) Started(now batch.Time, job *batch.Job, places []batch.Location) {}
func (d *tally) Decided(now batch.Time, job *batch.Job, dec *batch.Decision)   { d.decided[dec.Kind]++ }
func (d *tally) Ended(now batch.Time, job *batch.Job, killed bool) {
	d.ended++
	if job.Deadline > 0 {
		d.due++
		if now > job.Deadline {
			d.late++
		}
	}
}

func farmOf(seed uint64, machines, licences int) (batch.Platform, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 10))
	var p batch.Platform
	for l := range licences {
		p.Licences = append(p.Licences, batch.LicencePool{Name: fmt.Sprint("l", l), Copies: int32(max(1, machines*(55+r.IntN(11))/100))})
	}
	for m := range machines {
		n := batch.Node{Name: fmt.Sprint("m", m), Score: int32(200 + r.IntN(401)), Processors: int32(1 + r.IntN(8))}
		for l := range licences {
			if r.IntN(100) < 90 {
				n.Licences = append(n.Licences, fmt.Sprint("l", l))
			}
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p, r
}

func run(t testing.TB, name string, set batch.Settings, seed uint64, machines, licences, jobs int, gap float64, slack func(*rand.Rand, float64) float64) *tally {
	platform, r := farmOf(seed, machines, licences)
	s := batch.Settings{"algorithm": name}
	for k, v := range set {
		s[k] = v
	}
	p, err := convergent.New(platform, s)
	if err != nil {
		t.Fatal(err)
	}
	d := &tally{decided: map[batch.DecisionKind]int{}}
	e := engine.New(p, d, nil)
	e.Machine(platform)
	at := 0.0
	type arrival struct {
		at  batch.Time
		job batch.Job
	}
	var list []arrival
	for i := range jobs {
		at += r.ExpFloat64() * gap
		now := batch.Time(at * 1e6)
		est := float64(500 + r.IntN(2501))
		j := batch.Job{Handle: batch.Handle(i + 1), Checkpoint: true, Reference: int32(200 + r.IntN(401))}
		j.Shape = batch.Shape{Width: int32(1 + r.IntN(8)), Walltime: batch.Duration(est * 1e6)}
		for l := range licences {
			if r.IntN(100) < 20 {
				j.Licences = append(j.Licences, batch.Licence{Name: fmt.Sprint("l", l), Copies: 1})
			}
		}
		j.Site, j.Input = fmt.Sprint("m", r.IntN(machines)), int64(100+r.IntN(701))<<20
		x := slack(r, est)
		if r.IntN(10) < 7 {
			j.Deadline = now + batch.Time(x*1e6)
		}
		if convergent.Validate(platform, &j, now) != nil {
			j.Licences, j.Shape.Width = nil, 1
		}
		list = append(list, arrival{now, j})
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	for {
		next := e.Next()
		if len(list) > 0 {
			next = min(next, list[0].at)
		}
		if next == batch.Never {
			break
		}
		e.Advance(next)
		for ; len(list) > 0 && list[0].at == next; list = list[1:] {
			e.Submit(&list[0].job, list[0].job.Shape.Walltime)
		}
		e.Pass()
	}
	if d.ended != jobs {
		t.Fatalf("%d of %d ended", d.ended, jobs)
	}
	return d
}

func TestTry(t *testing.T) {
	percent := func(r *rand.Rand, est float64) float64 { return est * (1 + float64(25+r.IntN(126))/100) }
	for _, gap := range []float64{4, 6, 8, 10, 12, 16, 20} {
		for _, a := range convergent.All() {
			for _, set := range []batch.Settings{{}, {"avoid": "true"}, {"refill": "true"}, {"avoid": "true", "refill": "true"}} {
				if len(set) > 0 && !a.Convergent() {
					continue
				}
				late, due := 0, 0
				var dec map[batch.DecisionKind]int
				for seed := range uint64(2) {
					d := run(t, a.String(), set, seed, 50, 20, 500, gap*3, percent)
					late, due, dec = late+d.late, due+d.due, d.decided
				}
				fmt.Printf("%v %v %v: late %.1f%% %v\n", gap, a, set, 100*float64(late)/float64(due), dec)
			}
		}
	}
}

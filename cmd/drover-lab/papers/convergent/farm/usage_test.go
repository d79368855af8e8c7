package farm

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	model "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Licenses that more jobs ask for than there are copies, and others, against a count of
// all jobs after each event.
func TestUsageIsWhatACountOfAllJobsSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := &Instance{Machines: make([]Machine, rapid.IntRange(1, 4).Draw(t, "machines")), Copies: []int32{1, 2, 5}}
		type job struct {
			licenses []int32
			runs     bool
		}
		var jobs []*job
		u := newUsage(in)
		var time, machine, licenseTime, license float64
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			switch pick := rapid.IntRange(0, 2).Draw(t, "event"); {
			case pick == 0 || len(jobs) == 0:
				j := &job{licenses: rapid.SliceOfNDistinct(rapid.Int32Range(0, 2), 0, 3, rapid.ID[int32]).Draw(t,
					"licenses")}
				jobs = append(jobs, j)
				u.asked(j.licenses, 1)
			case pick == 1:
				j := rapid.SampledFrom(jobs).Draw(t, "job")
				if j.runs = !j.runs; j.runs {
					u.active(j.licenses, 1)
				} else {
					u.active(j.licenses, -1)
				}
			default:
				j := jobs[len(jobs)-1]
				jobs = jobs[:len(jobs)-1]
				if j.runs {
					u.active(j.licenses, -1)
				}
				u.asked(j.licenses, -1)
			}
			d := rapid.IntRange(0, 9).Draw(t, "time")
			u.pass(batch.Duration(d)*Unit, len(jobs))
			running, held, asked := 0, 0, make([]int, 3)
			for _, j := range jobs {
				for _, l := range j.licenses {
					asked[l]++
					if j.runs {
						held++
					}
				}
				if j.runs {
					running++
				}
			}
			could := min(asked[0], 1) + min(asked[1], 2) + min(asked[2], 5)
			if len(jobs) > 0 {
				time += float64(d)
				machine += float64(d) * float64(running) / float64(min(len(in.Machines), len(jobs)))
			}
			if could > 0 {
				licenseTime += float64(d)
				license += float64(d) * float64(held) / float64(could)
			}
		}
		gotMachine, gotLicense := u.means()
		if math.Abs(gotMachine*time-machine) > 1e-6 || math.Abs(gotLicense*licenseTime-license) > 1e-6 {
			t.Errorf("machines %v, licenses %v; want %v of %v, %v of %v", gotMachine, gotLicense, machine, time,
				license,
				licenseTime)
		}
	})
}

// Job 0 has run for 100 units on machine 1, whose score is twice its own: it did 200 of its
// 1000 units of work there, and 50 before.
func TestKnapsacksHaveTheJobsOfTheInstant(t *testing.T) {
	in := byHand()
	m := newMeter(in)
	m.now = 700 * batch.Time(Unit)
	m.jobs[0] = watched{state: running, machine: 1, since: 600 * batch.Time(Unit), done: 50 * Unit}
	p := newPairs(in, nil)
	want := model.Job{
		Deadline: in.Jobs[0].Deadline, Estimate: 1000 * Unit, Reference: 200, Done: 250 * Unit, CPUs: 4,
		Licenses: []model.Need{{License: 0, Copies: 1}}, Input: []model.Input{{
			Place: 1,
			Bytes: 100 * MB,
		}}, Machine: 1, Last: 1,
	}
	if diff := cmp.Diff(want, p.job(m, 0)); diff != "" {
		t.Error(diff)
	}
	p.look(m)
	if err := p.state.Validate(); err != nil || len(p.state.Jobs) != 1 {
		t.Errorf("%d jobs: %v", len(p.state.Jobs), err)
	}
	if p.comparison().Calls != 0 {
		t.Error("a call without a critical license counts")
	}
}

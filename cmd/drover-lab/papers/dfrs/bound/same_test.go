package bound

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestBoundIsTheSameForTheSameProblem(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *rapid.T, d *drawn)
	}{
		{"later", func(t *rapid.T, d *drawn) {
			by := batch.Time(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "by"))
			for i := range d.jobs {
				d.jobs[i].Release += by
			}
		}},
		{"in finer units", func(t *rapid.T, d *drawn) {
			by := rapid.Int64Range(2, 1<<30).Draw(t, "by")
			d.capacity *= by
			for i := range d.jobs {
				d.jobs[i].Rate *= by
			}
		}},
		{"in longer seconds", func(t *rapid.T, d *drawn) {
			by := rapid.Int64Range(2, 1000).Draw(t, "by")
			d.threshold *= batch.Duration(by)
			for i := range d.jobs {
				d.jobs[i].Release *= batch.Time(by)
				d.jobs[i].Length *= batch.Duration(by)
			}
		}},
		{"in another order", func(t *rapid.T, d *drawn) {
			d.jobs = rapid.Permutation(d.jobs).Draw(t, "order")
		}},
		{"with a job cut in two", func(t *rapid.T, d *drawn) {
			i := rapid.IntRange(0, len(d.jobs)-1).Draw(t, "job")
			if d.jobs[i].Rate == 1 {
				t.Skip("cannot be cut")
			}
			half := d.jobs[i]
			half.Rate /= 2
			d.jobs[i].Rate -= half.Rate
			d.jobs = append(d.jobs, half)
		}},
		{"with jobs that have no work", func(_ *rapid.T, d *drawn) {
			d.jobs = append(d.jobs, Job{Release: -5, Rate: d.capacity})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := draw(t, 10)
				low, high := d.bound(t)
				d.jobs = slices.Clone(d.jobs)
				c.change(t, &d)
				if l, h := d.bound(t); l != low || h != high {
					t.Errorf("bound from %d to %d, want %d to %d", l, h, low, high)
				}
			})
		})
	}
}

func TestBoundGrowsWithTheLoad(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *drawn)
	}{
		{"one job more", func(d *drawn) { d.jobs = append(slices.Clone(d.jobs), d.jobs[len(d.jobs)/2]) }},
		{"a wider job", func(d *drawn) { d.jobs = slices.Clone(d.jobs); d.jobs[0].Rate = d.capacity }},
		{"a smaller threshold", func(d *drawn) { d.threshold /= 2 }},
		{"a smaller machine", func(d *drawn) {
			for i := range d.jobs {
				if d.jobs[i].Rate == d.capacity {
					return
				}
			}
			d.capacity--
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := draw(t, 10)
				low, _ := d.bound(t)
				c.change(&d)
				if more, _ := d.bound(t); more < low {
					t.Errorf("bound falls from %d to %d", low, more)
				}
			})
		})
	}
}

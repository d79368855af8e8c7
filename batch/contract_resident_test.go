package batch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// A job that keeps its memory when paused starts on node 0 and is paused at 1. At 2 a wrong
// policy ignores that memory.
func TestTheLedgerCountsTheMemoryOfPausedJobs(t *testing.T) {
	platform := batch.Platform{Nodes: []batch.Node{{Processors: 1, Memory: 10}, {Processors: 1, Memory: 10}}}
	at := func(node int32) batch.NodeAllocation {
		return batch.NodeAllocation{Node: node, Processors: 1, Share: batch.One}
	}
	for name, c := range map[string]struct {
		resident bool
		decide   func(out *batch.Decisions)
		want     string
	}{
		"another job on its memory": {
			true,
			func(out *batch.Decisions) { out.Add(batch.Start, 2, at(0)) }, "node 0 has 12 bytes taken of 10",
		},
		"another job on free memory": {
			false,
			func(out *batch.Decisions) { out.Add(batch.Start, 2, at(0)) }, "",
		},
		"another job on another node": {
			true,
			func(out *batch.Decisions) { out.Add(batch.Start, 2, at(1)) }, "",
		},
		"resumed on another node": {
			true,
			func(out *batch.Decisions) { out.Add(batch.Resume, 1, at(1)) }, "resume of job 1, which stays in memory",
		},
		"resumed on its node": {
			true,
			func(out *batch.Decisions) { out.Add(batch.Resume, 1, at(0)) }, "",
		},
		"another kind of job resumed on another node": {
			false,
			func(out *batch.Decisions) { out.Add(batch.Resume, 1, at(1)) }, "",
		},
		"migrated to another node": {
			true,
			func(out *batch.Decisions) { out.Add(batch.Resume, 1, at(0)); out.Add(batch.Migrate, 1, at(1)) },
			"migrate of job 1",
		},
		"another kind of job migrated": {
			false,
			func(out *batch.Decisions) { out.Add(batch.Resume, 1, at(0)); out.Add(batch.Migrate, 1, at(1)) }, "",
		},
		"measured below its request": {
			true,
			func(out *batch.Decisions) { out.Add(batch.Start, 3, at(0)) }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &reckless{}
			decide := []func(*batch.Decisions){
				func(out *batch.Decisions) { out.Add(batch.Start, 1, at(0)) },
				func(out *batch.Decisions) { out.Add(batch.Pause, 1) },
				c.decide,
			}
			e := engine.New(p, noObserver{}, engine.NewLedger(platform))
			got := ""
			func() {
				defer func() {
					if r := recover(); r != nil {
						got = fmt.Sprint(r)
					}
				}()
				for h, memory := range []int64{0, 6, 6, 7} {
					if h > 0 {
						e.Submit(&batch.Job{
							Handle: batch.Handle(h), Shape: batch.Shape{Width: 1}, Memory: memory,
							Resident: c.resident && h == 1,
						}, batch.Hour)
					}
				}
				for now := range batch.Time(3) {
					e.Advance(now)
					if now == 1 {
						e.Apply(&batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One, Memory: 6})
						if name == "measured below its request" {
							e.Apply(&batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One, Memory: 3})
						}
					}
					p.pass = func(_ batch.Time, out *batch.Decisions) { decide[now](out) }
					e.Pass()
				}
			}()
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

type noObserver struct{}

func (noObserver) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}
func (noObserver) Ended(batch.Time, *batch.Job, bool)                     {}

package reallocation_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// TestARoundContinuesAfterFailuresOfTheDriver injects failures: sites that do not answer,
// jobs that cannot be held, failed moves and puts, and a driver that breaks off. Each job is
// picked at most once. Only held jobs are put, and only at sites that quoted them; a job
// without a site goes back to its slot.
func TestARoundContinuesAfterFailuresOfTheDriver(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sites := rapid.IntRange(1, 4).Draw(rt, "sites")
		var jobs []reallocation.Job
		for range rapid.IntRange(0, 12).Draw(rt, "jobs") {
			jobs = append(jobs, reallocation.Job{
				Site: rapid.IntRange(0, sites-1).Draw(rt, "site"), Width: rapid.Int32Range(0, 4).Draw(rt, "width"),
				Walltime: batch.Duration(rapid.IntRange(0, 3).Draw(rt, "walltime")) * batch.Second,
			})
		}
		c := reallocation.Config{
			Algorithm: reallocation.Algorithm(rapid.IntRange(0, 1).Draw(rt, "algorithm")),
			Heuristic: reallocation.Heuristic(rapid.IntRange(0, 5).Draw(rt, "heuristic")),
			Window:    reallocation.All, MostMovesRound: rapid.IntRange(0, 3).Draw(rt, "most moves"),
		}
		answer := rapid.Custom(func(t *rapid.T) batch.Duration {
			if rapid.IntRange(0, 3).Draw(t, "silent") == 0 {
				return batch.Forever
			}
			return batch.Duration(rapid.IntRange(-1, 9).Draw(t, "seconds")) * batch.Second
		})
		breakOff := rapid.IntRange(0, 30).Draw(rt, "break off")
		held, done, quoted := map[int]bool{}, map[int]bool{}, map[[2]int]batch.Duration{}
		moves, kept, steps := 0, 0, 0
		r := reallocation.NewRound(c, sites, jobs, nil)
		for step := range r.Steps() {
			if steps++; steps == breakOff {
				break
			}
			switch step.Kind {
			case reallocation.Ask:
				for _, q := range step.Questions {
					if len(q.Jobs) == 0 || len(q.After) != len(q.Jobs) || len(q.Completions) != len(q.Jobs) {
						rt.Fatalf("question %+v", q)
					}
					for i := range q.Jobs {
						q.Completions[i] = answer.Draw(rt, "answer")
						if !q.Standing {
							quoted[[2]int{q.Jobs[i], q.Site}] = q.Completions[i]
						}
					}
				}
				continue
			case reallocation.Hold:
				for i, j := range step.Jobs {
					step.Refused[i] = rapid.Bool().Draw(rt, "refused")
					held[j] = !step.Refused[i]
				}
				continue
			case reallocation.Put, reallocation.Back:
				if !held[step.Job] {
					rt.Fatalf("job %d is put, which is not held", step.Job)
				}
				ect, known := quoted[[2]int{step.Job, step.To}]
				if back := step.Kind == reallocation.Back; !known || (ect == batch.Forever) != back ||
					back && step.To != step.From {
					rt.Fatalf("%+v, though its ECT there is %v", step, ect)
				}
			}
			if done[step.Job] || step.From != jobs[step.Job].Site ||
				step.Kind == reallocation.Move && step.To == step.From {
				rt.Fatalf("step %+v", step)
			}
			done[step.Job] = true
			if step.Kind == reallocation.Back {
				kept++
				continue
			}
			if step.Failed = rapid.Bool().Draw(rt, "failed"); !step.Failed && step.To != step.From {
				moves++
			}
		}
		if got := r.Record(); got.Moves != moves || got.Kept != kept ||
			c.MostMovesRound > 0 && moves > c.MostMovesRound {
			rt.Fatalf("%d moves, %d went back, record %+v", moves, kept, got)
		}
		if c.Algorithm == reallocation.AllCancellation && steps < breakOff {
			for j, h := range held {
				if h && !done[j] {
					rt.Fatalf("job %d is left held", j)
				}
			}
		}
	})
}

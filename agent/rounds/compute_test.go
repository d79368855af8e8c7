package rounds_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

const second = batch.Second

// direct makes a round on the toy itself, one step after the other. The input says which
// jobs are alike, or not.
func direct(in rounds.Input, g *toy, alike bool) (list []rounds.Choice, record reallocation.Record) {
	var jobs []reallocation.Job
	before := make([]batch.Duration, len(in.Jobs))
	for _, j := range in.Jobs {
		job := reallocation.Job{Site: j.Site, Width: j.Shape.Width, Walltime: j.Shape.Walltime, Past: j.Past}
		if alike {
			job.Like = j.Like
		}
		jobs = append(jobs, job)
	}
	after := func(job, from, to int) (d batch.Duration) {
		if from != to && in.Transfer != nil {
			d, _ = in.Transfer(job, from, to)
		}
		return d
	}
	r := reallocation.NewRound(in.Config, in.Sites, jobs, in.Transfer)
	for step := range r.Steps() {
		switch step.Kind {
		case reallocation.Ask:
			for _, q := range step.Questions {
				for i, j := range q.Jobs {
					if q.Standing {
						before[j] = g.standing(j, q.Site)
						q.Completions[i] = before[j]
					} else {
						q.Completions[i] = g.asked(j, q.Site, q.After[i])
					}
				}
			}
			continue
		case reallocation.Hold:
			for i, j := range step.Jobs {
				step.Refused[i] = !g.take(j, in.Jobs[j].Site)
			}
			continue
		case reallocation.Move:
			g.take(step.Job, step.From)
		}
		c := rounds.Choice{
			Job: step.Job, From: step.From, To: step.To, Before: before[step.Job],
			After: g.asked(step.Job, step.To, after(step.Job, step.From, step.To)), Past: step.Past,
		}
		c.Shape.Width = int32(step.To) + 1
		g.put(step.Job, step.To, after(step.Job, step.From, step.To))
		if step.Kind == reallocation.Move {
			c.Least = max(in.Config.LeastGain, batch.Microsecond)
			if in.Transfer == nil {
				c.Least = max(c.Least, in.Config.Threshold)
			}
		} else if step.From != step.To {
			c.Least = in.Config.LeastGain
		}
		list = append(list, c)
	}
	return list, r.Record()
}

// drawRound draws a toy and a round about it.
func drawRound(t *rapid.T) (rounds.Input, *toy) {
	sites := rapid.IntRange(1, 4).Draw(t, "sites")
	g := &toy{queues: make([][]int, sites)}
	in := rounds.Input{Sites: sites, Config: reallocation.Config{
		Algorithm: reallocation.Algorithm(rapid.IntRange(0, 1).Draw(t, "algorithm")),
		Heuristic: reallocation.Heuristic(rapid.IntRange(0, 5).Draw(t, "heuristic")),
		Window:    reallocation.Window(rapid.IntRange(1, 6).Draw(t, "window")),
		Threshold: batch.Duration(rapid.IntRange(0, 3).Draw(t, "threshold")) * second,
		LeastGain: batch.Duration(rapid.IntRange(0, 2).Draw(t, "least gain")) * second,
		Patience:  rapid.IntRange(-1, 2).Draw(t, "patience"),
	}}
	for j := range rapid.IntRange(0, 10).Draw(t, "jobs") {
		lengths := make([]batch.Duration, sites)
		at, like := rapid.IntRange(0, sites-1).Draw(t, "site"), 0
		if other := rapid.IntRange(-10, 10).Draw(t, "like"); other >= 0 && other < j && g.lengths[other][at] > 0 {
			if in.Jobs[other].Like == 0 {
				in.Jobs[other].Like = other + 1
			}
			like = in.Jobs[other].Like
			copy(lengths, g.lengths[other])
		} else {
			for s := range lengths {
				least := 0
				if s == at {
					least = 1
				}
				lengths[s] = batch.Duration(rapid.IntRange(least, 9).Draw(t, "length")) * second
			}
		}
		g.lengths, g.from = append(g.lengths, lengths), append(g.from, 0)
		g.put(j, at, 0)
		in.Jobs = append(in.Jobs, rounds.Job{
			Site: at, Shape: batch.Shape{Width: int32(at) + 1, Walltime: lengths[at]}, Like: like,
			Past: reallocation.Past{Later: rapid.IntRange(0, 3).Draw(t, "later")},
		})
	}
	if rapid.Bool().Draw(t, "network") {
		in.Transfer = func(job, from, to int) (batch.Duration, bool) {
			if in.Jobs[job].Like > 0 {
				job = in.Jobs[job].Like
			}
			return batch.Duration((job+from+2*to)%4) * second, true
		}
	}
	return in, g
}

// TestComputeOnDraftsChoosesLikeARealRound, although that one does not know
// which jobs are alike, and leaves the plans alone.
func TestComputeOnDraftsChoosesLikeARealRound(t *testing.T) {
	moves := 0
	rapid.Check(t, func(rt *rapid.T) {
		in, g := drawRound(rt)
		plans := g.clone()
		if rapid.Bool().Draw(rt, "services are known") {
			in.Offers = func(job, site int) bool { return g.lengths[job][site] > 0 }
		}
		drafts := newToyDrafts(g)
		got := rounds.Compute(in, drafts)
		if d := cmp.Diff(plans.queues, g.queues); d != "" {
			rt.Fatalf("the plans themselves have changed: %s", d)
		}
		want, _ := direct(in, g.clone(), false)
		if d := cmp.Diff(want, got.Choices); d != "" {
			rt.Fatalf("choices: %s", d)
		}
		_, record := direct(in, g, true)
		if d := cmp.Diff(record, got.Record); d != "" {
			rt.Fatalf("record: %s", d)
		}
		for s := range in.Sites {
			if got.Lost[s] || !drafts.ended[s] {
				rt.Fatalf("site %d: lost %v, ended %v", s, got.Lost[s], drafts.ended[s])
			}
			// A beginning, an end, and what all-cancellation takes out. Edits make no calls.
			if most := record.Asks + 3; drafts.calls[s] > most {
				rt.Fatalf("site %d was called %d times, with %d rounds of questions", s, drafts.calls[s], record.Asks)
			}
		}
		if len(drafts.wrong) > 0 {
			rt.Fatal(drafts.wrong)
		}
		moves += record.Moves
	})
	if moves == 0 {
		t.Error("no round has moved anything")
	}
}

// TestASiteLostDuringARoundKeepsItsJobs, gets no others, and is not called
// again.
func TestASiteLostDuringARoundKeepsItsJobs(t *testing.T) {
	lost := 0
	rapid.Check(t, func(rt *rapid.T) {
		in, g := drawRound(rt)
		drafts := newToyDrafts(g)
		for s := range drafts.lose {
			drafts.lose[s] = rapid.IntRange(0, 6).Draw(rt, "lost at call")
		}
		got := rounds.Compute(in, drafts)
		if len(drafts.wrong) > 0 {
			rt.Fatal(drafts.wrong)
		}
		chosen := make(map[int]bool)
		for _, c := range got.Choices {
			switch {
			case chosen[c.Job] || in.Jobs[c.Job].Site != c.From:
				rt.Fatalf("choice %+v", c)
			case got.Lost[c.From] || got.Lost[c.To]:
				rt.Fatalf("choice %+v, of a site that was lost", c)
			case c.Shape.Width != int32(c.To)+1:
				rt.Fatalf("choice %+v, without a shape from a draft", c)
			}
			chosen[c.Job] = true
		}
		checkRecord(rt, got)
		for s, at := range drafts.lose {
			if was := at > 0 && drafts.calls[s] >= at; got.Lost[s] != was {
				rt.Fatalf("site %d: lost %v", s, got.Lost[s])
			} else if was {
				lost++
			}
		}
	})
	if lost == 0 {
		t.Error("no site was lost")
	}
}

// checkRecord fails unless a round has counted what it has chosen.
func checkRecord(t *rapid.T, got *rounds.Result) {
	var moves, later int
	var gain batch.Duration
	for _, c := range got.Choices {
		if c.To != c.From {
			moves++
			gain += c.Gain()
		}
		if c.After > c.Before {
			later++
		}
	}
	if r := got.Record; r.Moves != moves || r.Later != later || r.Gain != gain {
		t.Fatalf("the record is %+v of %d moves that gain %d, %d later", r, moves, gain, later)
	}
}

// TestARefusedEditDropsTheChoice, though that is found out with the next
// questions.
func TestARefusedEditDropsTheChoice(t *testing.T) {
	failed := 0
	rapid.Check(t, func(rt *rapid.T) {
		in, g := drawRound(rt)
		drafts := newToyDrafts(g)
		for s := range drafts.full {
			drafts.full[s] = rapid.Bool().Draw(rt, "full")
		}
		got := rounds.Compute(in, drafts)
		if len(drafts.wrong) > 0 {
			rt.Fatal(drafts.wrong)
		}
		for _, c := range got.Choices {
			if drafts.full[c.To] {
				rt.Fatalf("choice %+v, at a site that takes no jobs", c)
			}
		}
		for s, lost := range got.Lost {
			if lost {
				rt.Fatalf("site %d is lost: it has only refused", s)
			}
		}
		checkRecord(rt, got)
		failed += got.Record.Failed
	})
	if failed == 0 {
		t.Error("no draft has refused anything")
	}
}

func TestAnAnswerOfTheWrongLengthLosesTheSite(t *testing.T) {
	g := &toy{queues: [][]int{{0}, nil}, lengths: [][]batch.Duration{{second, second}}, from: make([]batch.Duration, 1)}
	in := rounds.Input{
		Config: reallocation.Default, Sites: 2, Jobs: []rounds.Job{{Site: 0, Shape: batch.Shape{Width: 1}}},
	}
	got := rounds.Compute(in, forgetful{newToyDrafts(g)})
	if !got.Lost[0] || got.Lost[1] || got.Record.Jobs != 0 {
		t.Errorf("%+v", got)
	}
}

// forgetful drops the last answer of each call.
type forgetful struct{ *toyDrafts }

func (d forgetful) Call(calls []*rounds.Call) {
	d.toyDrafts.Call(calls)
	for _, c := range calls {
		if n := len(c.Answers); n > 0 {
			c.Answers = c.Answers[:n-1]
		}
	}
}

// Site 0 drains: job 0 could be nowhere else, job 1 could.
func TestAJobThatNoSiteTakesHasNoChoiceAndDoesNotCountAsFailed(t *testing.T) {
	g := &toy{
		queues: [][]int{{0, 1}, nil}, lengths: [][]batch.Duration{{0, 0}, {0, 5 * second}},
		from: make([]batch.Duration, 2),
	}
	in := rounds.Input{Config: reallocation.Default, Sites: 2, Jobs: make([]rounds.Job, 2)}
	in.Config.Algorithm = reallocation.AllCancellation
	drafts := newToyDrafts(g)
	got := rounds.Compute(in, drafts)
	if len(got.Choices) != 1 || got.Choices[0].Job != 1 || got.Choices[0].To != 1 {
		t.Errorf("choices %+v", got.Choices)
	}
	if r := got.Record; r.Held != 2 || r.Kept != 1 || r.Failed != 0 || len(drafts.wrong) > 0 {
		t.Errorf("%+v, %v", r, drafts.wrong)
	}
}

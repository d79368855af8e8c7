package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// What a check came to.
const (
	checkPassed  = "pass"
	checkFailed  = "fail"
	checkUnknown = "not judged"
)

// sharedCheckView is one check, with its figures.
type sharedCheckView struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	Text   string `json:"text"`
}

// The bounds of the checks.
const (
	mostOff       = 0.10 // of a share that is used
	leastMeasured = 2 * time.Second
	servedWithin  = time.Second
	mostLoad      = 1.05 // of the processors of the host, by all who run
	growsWithin   = time.Second
)

// checkShared holds what was seen against what was to be seen.
func checkShared(b *sharedBoard, v *sharedView, found *sharedResults) []sharedCheckView {
	var late, large *sharedJob
	for n := range b.jobs {
		switch j := &b.jobs[n]; j.kind {
		case kindLate:
			late = j
		case kindLarge:
			large = j
		}
	}
	var all []sharedCheckView
	add := func(name string, result, text string) { all = append(all, sharedCheckView{name, result, text}) }
	result, text := checkDone(b, found)
	add("done", result, text)
	result, text = checkShares(v)
	add("shares", result, text)
	result, text = checkLate(v, late)
	add("late", result, text)
	result, text = checkYields(b.least, late.job)
	add("yields", result, text)
	result, text = checkPlace(b, large)
	add("place", result, text)
	return all
}

func passed(ok bool) string {
	if ok {
		return checkPassed
	}
	return checkFailed
}

// checkDone looks whether all jobs have found what they were to find.
func checkDone(b *sharedBoard, found *sharedResults) (result, text string) {
	var wrong []string
	same, stopped := "", 0
	for n := range b.jobs {
		j := &b.jobs[n]
		if j.job.State != client.Done {
			wrong = append(wrong, fmt.Sprintf("#%d is %s: %s", n+1, j.job.State, j.job.Outcome.Reason))
			continue
		}
		if j.kind != kindLong {
			continue
		}
		if j.stops > 0 {
			stopped++
		}
		switch got := found.primes[n]; {
		case got == "":
			wrong = append(wrong, fmt.Sprintf("#%d has found nothing", n+1))
		case same == "":
			same = got
		case got != same:
			wrong = append(wrong, fmt.Sprintf("#%d has found %q, others %q", n+1, got, same))
		}
	}
	if found.picture != nil {
		wrong = append(wrong, found.picture.Error())
	}
	if wrong != nil {
		return checkFailed, strings.Join(wrong, "; ")
	}
	return checkPassed, fmt.Sprintf("all long jobs found the same, %s; %d of them had been stopped", same, stopped)
}

// checkShares compares what jobs have used with their shares. Jobs that got less because
// the host had no more to give say nothing about the shares.
func checkShares(v *sharedView) (result, text string) {
	if !measures(v.Ways) {
		return checkUnknown, "nothing is measured on this host"
	}
	judged, worst := 0, -1
	var given, missing float64
	for n := range v.Jobs {
		j := &v.Jobs[n]
		if j.Measured < leastMeasured.Seconds() || j.Kind != kindLong {
			continue
		}
		judged++
		given += j.Measured * j.Share
		missing += j.Measured * (j.Share - j.Used)
		if worst < 0 || math.Abs(j.Error) > math.Abs(v.Jobs[worst].Error) {
			worst = n
		}
	}
	if judged == 0 {
		return checkUnknown, "no share stayed the same for long enough"
	}
	text = fmt.Sprintf("%d jobs used what they were given, at worst %+.1f%% (#%d), accepted: %.0f%%", judged, 100*v.Jobs[worst].Error, worst+1, 100*mostOff)
	if math.Abs(v.Jobs[worst].Error) <= mostOff {
		return checkPassed, text
	}
	if why, busy := v.busy(); busy && v.Jobs[worst].Error < 0 {
		// All shares together are all processors of the nodes.
		short := float64(v.Nodes) + *v.Others - float64(runtime.NumCPU())
		if want := missing / given * float64(v.Nodes); short > want/2 {
			return checkUnknown, why + text
		}
	}
	return checkFailed, text
}

// measures says whether one of the ways is a way to measure.
func measures(ways []string) bool {
	for _, w := range ways {
		if ability, way, _ := strings.Cut(w, "="); ability == "measuring" {
			return way != "none"
		}
	}
	return false
}

// busy says whether this host had more to do than it has processors, and how much of that
// was not the demo's.
func (v *sharedView) busy() (text string, busy bool) {
	if v.Others == nil || float64(v.Nodes)+*v.Others < mostLoad*float64(runtime.NumCPU()) {
		return "", false
	}
	return fmt.Sprintf("this host is busy: other programs used %.2f of its %d processors; ", *v.Others, runtime.NumCPU()), true
}

// checkLate looks whether the short job was served at once. A busy host is slow in writing
// down and telling that it was.
func checkLate(v *sharedView, late *sharedJob) (result, text string) {
	if late.served.IsZero() {
		return checkFailed, "the late job has not started"
	}
	text = fmt.Sprintf("a short job ran %.3fs after it was sent to full nodes, accepted: %.0fs, and was done after %.1fs",
		late.wait().Seconds(), servedWithin.Seconds(), late.job.Ended.Sub(late.job.Submitted).Seconds())
	if late.wait() <= servedWithin {
		return checkPassed, text
	}
	if why, busy := v.busy(); busy {
		return checkUnknown, why + text
	}
	return checkFailed, text
}

// checkYields looks whether the others had less while the late job was there, and more
// when it had gone.
func checkYields(seen []leastShare, late *client.Job) (result, text string) {
	var before, during, after float64
	for _, s := range seen {
		switch {
		case s.at.Before(late.Submitted):
			before = s.share
		case s.at.After(late.Ended) && s.at.Sub(late.Ended) < growsWithin:
			after = max(after, s.share)
		case s.at.After(late.Started) && s.at.Before(late.Ended) && (during == 0 || s.share < during):
			during = s.share
		}
	}
	text = fmt.Sprintf("the least share of the others was %.3f before it, %.3f while it ran, %.3f afterwards", before, during, after)
	if during == 0 || after == 0 {
		return checkUnknown, text
	}
	return passed(during < before-sameShare && after > during+sameShare), text
}

// checkPlace looks whether others have made place for the job whose memory was nowhere
// free, and have gone on.
func checkPlace(b *sharedBoard, large *sharedJob) (result, text string) {
	if large.served.IsZero() {
		return checkFailed, "the large job has not started"
	}
	stops, moves := 0, 0
	for n := range b.jobs {
		stops, moves = stops+b.jobs[n].stops, moves+b.jobs[n].moves
	}
	return passed(stops+moves > 0), fmt.Sprintf("a job that fitted nowhere ran after %.3fs: %s and %s of others", large.wait().Seconds(), plural(stops, "stop"), plural(moves, "move"))
}

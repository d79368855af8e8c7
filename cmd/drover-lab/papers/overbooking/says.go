package overbooking

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// over formats the range of a value over the logs.
func (r *Report) over(maxPoF string, write func(float64) string, value func(c cell) float64) string {
	var low, high float64
	for i, t := range r.traces {
		v := value(cell{t, r.middle(), r.way(), maxPoF})
		if i == 0 || v < low {
			low = v
		}
		if i == 0 || v > high {
			high = v
		}
	}
	if write(low) == write(high) {
		return write(low)
	}
	return write(low) + " to " + write(high)
}

// chosen is the maxPoF that earns most in the mean, if a broken agreement costs what it
// was worth.
func (r *Report) chosen() string {
	at, _ := r.best(func(p string) (float64, bool) { return r.meanGain(r.middle(), r.way(), p, once) })
	return at
}

func (r *Report) last() string { return r.chances[len(r.chances)-1] }

func (r *Report) saysAccepted() []string {
	worth := func(c cell) float64 { return r.cells[c].worth }
	jobs := func(c cell) float64 { return r.cells[c].accepted }
	say := func(p string) string {
		return fmt.Sprintf("%s of the worth and %s of the jobs at maxPoF %s", r.over(p, papers.Percent, worth),
			r.over(p, papers.Percent, jobs), p)
	}
	return []string{fmt.Sprintf("Accepted: %s; %s; %s.", say(r.chances[0]), say(r.chosen()), say(r.last()))}
}

func (r *Report) saysUtilization() []string {
	useful := func(c cell) float64 { return r.cells[c].useful }
	vain := func(c cell) float64 { return r.cells[c].all - r.cells[c].useful }
	best, _ := r.best(func(p string) (float64, bool) { return r.meanUseful(p), true })
	return []string{
		fmt.Sprintf("By jobs that are completed %s of the machine is used without overbooking, %s at maxPoF %s.",
			r.over(r.chances[0], papers.Percent, useful), r.over(best, papers.Percent, useful), best),
		fmt.Sprintf("Beyond that the machine gets fuller with jobs that are killed: those that are take %s of it "+
			"without "+
			"overbooking (their users asked for too little), %s at maxPoF %s.",
			r.over(r.chances[0], papers.Percent, vain), r.over(r.last(), papers.Percent, vain), r.last()),
	}
}

// meanUseful is how much more of the machine is useful than without overbooking.
func (r *Report) meanUseful(maxPoF string) (sum float64) {
	for _, t := range r.traces {
		sum += r.cells[cell{t, r.middle(), r.way(), maxPoF}].useful - r.cells[cell{
			t, r.middle(), r.way(),
			r.chances[0],
		}].useful
	}
	return sum / float64(len(r.traces))
}

func (r *Report) saysBroken() []string {
	broken := func(c cell) float64 { return r.cells[c].broken }
	worth := func(c cell) float64 { return r.cells[c].brokenWorth }
	lost := func(c cell) float64 { return r.cells[c].lost }
	say := func(p string) string {
		return fmt.Sprintf("At maxPoF %s the provider breaks %s of the agreements, %s of what is sold; %s of the "+
			"jobs are "+
			"lost.",
			p, r.over(p, papers.Hundredths, broken), r.over(p, papers.Hundredths, worth),
			r.over(p, papers.Hundredths, lost))
	}
	if r.chosen() == r.chances[0] {
		return []string{say(r.last())}
	}
	return []string{say(r.chosen()), say(r.last())}
}

func (r *Report) saysFailed() []string {
	var says []string
	for _, way := range r.ways {
		var beyond []string
		for _, p := range r.chances {
			if f, ok := r.meanFailed(way, p); ok && f > chanceOf(p) {
				beyond = append(beyond, p)
			}
		}
		if len(beyond) == 0 {
			says = append(says,
				fmt.Sprintf("%s: of the overbooked jobs fewer fail than are allowed to, at every maxPoF.", way))
		} else {
			says = append(says, fmt.Sprintf("%s: more fail than are allowed to at maxPoF %s.", way,
				strings.Join(beyond, ", ")))
		}
	}
	return says
}

func (r *Report) saysProfit() []string {
	says := []string{}
	for _, t := range r.traces {
		gain := func(p string) (float64, bool) { return r.gain(cell{t, r.middle(), r.way(), p}, once) }
		at, most := r.best(gain)
		line := fmt.Sprintf("%s earns most with maxPoF %s: %s", t, at, papers.Signed(most))
		if hurts, ok := r.hurts(gain); ok {
			line += fmt.Sprintf("; from %s on it earns less than without overbooking", hurts)
		} else {
			line += "; it never earns less than without overbooking"
		}
		says = append(says, line+".")
	}
	return says
}

// hurts returns the maxPoF from which on less is earned than without overbooking.
func (r *Report) hurts(gain func(string) (float64, bool)) (from string, ok bool) {
	for _, p := range r.chances[1:] {
		switch g, have := gain(p); {
		case !have:
		case g < 0 && !ok:
			from, ok = p, true
		case g >= 0:
			ok = false
		}
	}
	return from, ok
}

func (r *Report) saysPenalty() []string {
	var says []string
	for _, penalty := range penalties {
		gain := func(p string) (float64, bool) { return r.meanGain(r.middle(), r.way(), p, penalty) }
		at, most := r.best(gain)
		line := fmt.Sprintf("A penalty of %g times the worth: best with maxPoF %s, %s", penalty, at,
			papers.Signed(most))
		if from, ok := r.hurts(gain); ok {
			line += ", and a loss from " + from + " on"
		}
		says = append(says, line+".")
	}
	return says
}

func (r *Report) saysWays() []string {
	var says []string
	for _, way := range r.ways {
		at, most := r.best(func(p string) (float64, bool) { return r.meanGain(r.middle(), way, p, once) })
		says = append(says, fmt.Sprintf("%s: best with maxPoF %s, %s.", way, at, papers.Signed(most)))
	}
	return says
}

func (r *Report) saysSlack() []string {
	var says []string
	for _, s := range r.slacks {
		at, most := r.best(func(p string) (float64, bool) { return r.meanGain(s, r.way(), p, once) })
		says = append(says, fmt.Sprintf("Windows longer than the estimate by %s: best with maxPoF %s, %s.",
			slackName(s), at,
			papers.Signed(most)))
	}
	return says
}

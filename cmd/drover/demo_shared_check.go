package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// sharedSummary is the summary of a demo of shared processors. Times are seconds.
type sharedSummary struct {
	Policy string   `json:"policy"`
	Nodes  int      `json:"nodes"`
	Ways   []string `json:"enforcedBy"` // shares=v1, ...
	Took   float64  `json:"took"`       // from the first submission to the last end
	// Others is how many processors other programs of this host used.
	Others *float64           `json:"othersCpu,omitempty"`
	Jobs   []sharedJobSummary `json:"jobs"`
	Checks []sharedCheck      `json:"checks"`
}

// sharedJobSummary is one job. Share and used are means over the time in which they were
// measured and the share stayed the same, processors.
type sharedJobSummary struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"` // long, late or large
	Service   string       `json:"service"`
	State     client.State `json:"state"`
	Submitted float64      `json:"submitted"` // since the first submission
	Wait      float64      `json:"wait"`      // from its sending until it was seen to run, for the first time
	Response  float64      `json:"response"`
	Measured  float64      `json:"measured"`
	Share     float64      `json:"shareMean"`
	Used      float64      `json:"usedMean"`
	Error     float64      `json:"error"` // used over share, less 1
	Stops     int          `json:"stops"` // paused, or preempted at a checkpoint
	Moves     int          `json:"moves"`
}

func summarizeShared(b *sharedBoard, found *sharedResults) *sharedSummary {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &sharedSummary{Policy: "dfrs"}
	if b.use != nil {
		v.Nodes, v.Ways = len(b.use.Nodes), enforcement(b.use.Capabilities)
	}
	first := b.jobs[0].job.Submitted
	for n := range b.jobs {
		j := &b.jobs[n]
		row := sharedJobSummary{
			ID: j.job.ID, Kind: j.kind, Service: j.service, State: j.job.State,
			Submitted: j.job.Submitted.Sub(first).Seconds(),
			Response:  j.job.Ended.Sub(j.job.Submitted).Seconds(), Measured: j.meter.span.Seconds(),
			Error: j.meter.off(), Stops: j.stops, Moves: j.moves,
		}
		if !j.served.IsZero() {
			row.Wait = j.wait().Seconds()
		}
		if row.Measured > 0 {
			row.Share, row.Used = j.meter.given/row.Measured, j.meter.used/row.Measured
		}
		v.Took = max(v.Took, j.job.Ended.Sub(first).Seconds())
		v.Jobs = append(v.Jobs, row)
	}
	if others, known := b.others.rate(); known {
		v.Others = &others
	}
	v.Checks = checkShared(b, v, found)
	return v
}

// failed returns how many checks did.
func (v *sharedSummary) failed() (n int) {
	for _, c := range v.Checks {
		if c.Result == checkFailed {
			n++
		}
	}
	return n
}

// print writes the summary for people.
func (v *sharedSummary) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "%s on %s in %.1fs under %s, %s\n\n", plural(len(v.Jobs), "job"), plural(v.Nodes, "node"),
		v.Took, v.Policy, enforcedBy(v.Ways))
	t := cmdline.NewTable(w, table.Row{
		"job", "", "service", "submitted", "wait", "response", "measured", "share", "used", "error", "stops", "moves",
		"state",
	},
		"submitted", "wait", "response", "measured", "share", "used", "error", "stops", "moves")
	for n := range v.Jobs {
		j := &v.Jobs[n]
		row := table.Row{
			fmt.Sprintf("#%d", n+1), j.Kind, j.Service, fmt.Sprintf("%.1fs", j.Submitted), fmt.Sprintf("%.3fs", j.Wait),
			fmt.Sprintf("%.1fs", j.Response), "-", "-", "-", "-", j.Stops, j.Moves, j.State,
		}
		if j.Measured > 0 {
			row[6], row[7], row[8], row[9] = fmt.Sprintf("%.1fs", j.Measured), fmt.Sprintf("%.3f", j.Share),
				fmt.Sprintf("%.3f", j.Used), fmt.Sprintf("%+.1f%%", 100*j.Error)
		}
		t.AppendRow(row)
	}
	t.Render()
	_, _ = fmt.Fprint(w, "(share and used: means in processors over the measured time, in which the share was "+
		"constant between two\n"+
		" measurements; stops: preempted at a checkpoint)\n\n")
	checks := cmdline.NewTable(w, table.Row{"check", "", ""})
	for _, c := range v.Checks {
		checks.AppendRow(table.Row{c.Name, strings.ToUpper(c.Result), c.Text})
	}
	checks.Render()
	_, err := fmt.Fprintln(w)
	return err
}

// The results of a check.
const (
	checkPassed  = "pass"
	checkFailed  = "fail"
	checkUnknown = "not judged"
)

// sharedCheck is one check, with its figures.
type sharedCheck struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	Text   string `json:"text"`
}

// The bounds of the checks.
const (
	mostOff       = 0.10 // of a share that is used
	leastMeasured = 2 * time.Second
	servedWithin  = time.Second
	mostLoad      = 1.01 // of the processors of the host, by all running jobs
	growsWithin   = time.Second
)

// checkShared compares the observations with the expectations.
func checkShared(b *sharedBoard, v *sharedSummary, found *sharedResults) []sharedCheck {
	var late, large *sharedJob
	for n := range b.jobs {
		switch j := &b.jobs[n]; j.kind {
		case kindLate:
			late = j
		case kindLarge:
			large = j
		}
	}
	var all []sharedCheck
	add := func(name string, result, text string) { all = append(all, sharedCheck{name, result, text}) }
	result, text := checkDone(b, found)
	add("done", result, text)
	result, text = checkShares(v)
	add("shares", result, text)
	result, text = checkLate(v, late)
	add("late", result, text)
	result, text = checkYields(b.least, late.job)
	add("yields", result, text)
	result, text = checkSpace(b, large)
	add("space", result, text)
	return all
}

func passed(ok bool) string {
	if ok {
		return checkPassed
	}
	return checkFailed
}

// checkDone checks the results of all jobs.
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
			wrong = append(wrong, fmt.Sprintf("#%d has no result", n+1))
		case same == "":
			same = got
		case got != same:
			wrong = append(wrong, fmt.Sprintf("#%d has the result %q, others %q", n+1, got, same))
		}
	}
	if found.picture != nil {
		wrong = append(wrong, found.picture.Error())
	}
	if wrong != nil {
		return checkFailed, strings.Join(wrong, "; ")
	}
	return checkPassed, fmt.Sprintf("all long jobs found the same result, %s; %d of them had been stopped", same,
		stopped)
}

// checkShares compares the use of jobs with their shares. It does not judge jobs that used
// less because the host was busy.
func checkShares(v *sharedSummary) (result, text string) {
	if !measures(v.Ways) {
		return checkUnknown, "this host measures nothing"
	}
	judged, worst := 0, -1
	var missing float64 // processor-seconds of the jobs that used too little
	for n := range v.Jobs {
		j := &v.Jobs[n]
		if j.Measured < leastMeasured.Seconds() || j.Kind != kindLong {
			continue
		}
		judged++
		if j.Error < -mostOff {
			missing += j.Measured * (j.Share - j.Used)
		}
		if worst < 0 || math.Abs(j.Error) > math.Abs(v.Jobs[worst].Error) {
			worst = n
		}
	}
	if judged == 0 {
		return checkUnknown, "no share was constant for long enough"
	}
	text = fmt.Sprintf("%d jobs used what they were given, at worst %+.1f%% (#%d), accepted: %.0f%%", judged,
		100*v.Jobs[worst].Error, worst+1, 100*mostOff)
	if math.Abs(v.Jobs[worst].Error) <= mostOff {
		return checkPassed, text
	}
	if why, busy := v.busy(); busy && v.Jobs[worst].Error < 0 {
		// All shares together are all processors of the nodes. A few others at the wrong moment
		// are enough for one job.
		short := (float64(v.Nodes) + *v.Others - float64(runtime.NumCPU())) * v.Took
		if short > missing/2 {
			return checkUnknown, why + text
		}
	}
	return checkFailed, text
}

// measures reports whether the site can measure.
func measures(ways []string) bool {
	for _, w := range ways {
		if ability, way, _ := strings.Cut(w, "="); ability == "measuring" {
			return way != "none"
		}
	}
	return false
}

// busy reports whether this host was overloaded, and by how much the use of other programs.
func (v *sharedSummary) busy() (text string, busy bool) {
	if v.Others == nil || float64(v.Nodes)+*v.Others < mostLoad*float64(runtime.NumCPU()) {
		return "", false
	}
	return fmt.Sprintf("this host is busy: other programs used %.2f of its %d processors; ", *v.Others,
		runtime.NumCPU()), true
}

// checkLate checks that the short job started at once. On a busy host recording and
// reporting the start is slow.
func checkLate(v *sharedSummary, late *sharedJob) (result, text string) {
	if late.served.IsZero() {
		return checkFailed, "the late job has not started"
	}
	text = fmt.Sprintf("a short job ran %.3fs after it was sent to full nodes, accepted: %.0fs, and was done after "+
		"%.1fs",
		late.wait().Seconds(), servedWithin.Seconds(), late.job.Ended.Sub(late.job.Submitted).Seconds())
	if late.wait() <= servedWithin {
		return checkPassed, text
	}
	if why, busy := v.busy(); busy {
		return checkUnknown, why + text
	}
	return checkFailed, text
}

// checkYields checks that the others had smaller shares while the late job ran, and larger
// ones afterwards.
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
	text = fmt.Sprintf("the least share of the others was %.3f before it, %.3f while it ran, %.3f afterwards", before,
		during, after)
	if during == 0 || after == 0 {
		return checkUnknown, text
	}
	return passed(during < before-sameShare && after > during+sameShare), text
}

// checkSpace checks that others stopped or moved for the job that fitted into no memory.
func checkSpace(b *sharedBoard, large *sharedJob) (result, text string) {
	if large.served.IsZero() {
		return checkFailed, "the large job has not started"
	}
	stops, moves := 0, 0
	for n := range b.jobs {
		stops, moves = stops+b.jobs[n].stops, moves+b.jobs[n].moves
	}
	return passed(stops+moves > 0), fmt.Sprintf("a job that fitted nowhere ran after %.3fs: %s and %s of others",
		large.wait().Seconds(), plural(stops, "stop"), plural(moves, "move"))
}

// shareMeter compares the use of a job with its share, over the intervals between two
// measurements in which its share was constant.
//
//	seen      │  │  │  │  │  │  │  │  │  │  │  │
//	share    ─1/2──────┐└1/3────────────────────────
//	measured     ▲           ▲           ▲
//	                  no ────┘ counts ───┘
type shareMeter struct {
	share float64   // processors, all tasks together; 0 while it is paused
	since time.Time // first seen

	at  time.Time // of the last measurement
	cpu time.Duration

	given, used float64 // seconds of a processor
	span        time.Duration
}

// sameShare is the largest difference of equal shares, because policies round.
const sameShare = 1e-3

// see adds the use of the job at an instant.
func (m *shareMeter) see(at time.Time, j *client.JobUse) {
	share := j.Share * float64(j.Tasks)
	if m.since.IsZero() || math.Abs(share-m.share) > sameShare {
		m.share, m.since = share, at
	}
	if !j.Measured.After(m.at) {
		return
	}
	if !m.at.IsZero() && j.CPUTime >= m.cpu && share > 0 && !m.since.After(m.at) {
		span := j.Measured.Sub(m.at)
		m.span += span
		m.given += share * span.Seconds()
		m.used += (j.CPUTime - m.cpu).Seconds()
	}
	m.at, m.cpu = j.Measured, j.CPUTime
}

// gone resets the meter when the job has no processes: the next measurements are those of
// another attempt.
func (m *shareMeter) gone() { m.since, m.at = time.Time{}, time.Time{} }

// off returns the relative difference between the use of a job and its share.
func (m *shareMeter) off() float64 {
	if m.given == 0 {
		return 0
	}
	return m.used/m.given - 1
}

// otherMeter measures the processors that programs other than the jobs use, over the
// intervals between two measurements with the same jobs.
type otherMeter struct {
	busy func() (time.Duration, bool) // processor time of the host that was not idle

	at   time.Time
	last time.Duration
	cpu  map[string]time.Duration // by job

	used float64 // seconds of a processor
	span time.Duration
}

// see adds the use of the site.
func (m *otherMeter) see(jobs []client.JobUse) {
	var at time.Time
	cpu := make(map[string]time.Duration)
	for i := range jobs {
		cpu[jobs[i].ID] = jobs[i].CPUTime
		if jobs[i].Measured.After(at) {
			at = jobs[i].Measured
		}
	}
	if !at.After(m.at) {
		return
	}
	busy, known := m.busy()
	if !known {
		return
	}
	if jobs, same := m.since(cpu); same {
		m.span += at.Sub(m.at)
		m.used += (busy - m.last - jobs).Seconds()
	}
	m.at, m.last, m.cpu = at, busy, cpu
}

// since returns the processor time of the jobs since the last measurement, false if there
// were other jobs.
func (m *otherMeter) since(cpu map[string]time.Duration) (used time.Duration, same bool) {
	if m.at.IsZero() || len(cpu) != len(m.cpu) {
		return 0, false
	}
	for id, now := range cpu {
		before, there := m.cpu[id]
		if !there || now < before {
			return 0, false
		}
		used += now - before
	}
	return used, true
}

// rate returns the processors that other programs used, false if unknown.
func (m *otherMeter) rate() (float64, bool) {
	if m.span == 0 {
		return 0, false
	}
	return max(0, m.used/m.span.Seconds()), true
}

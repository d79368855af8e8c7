package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
)

// sharedView is the summary of a demo of shared processors. Times are seconds.
type sharedView struct {
	Schema string   `json:"schema"`
	Policy string   `json:"policy"`
	Nodes  int      `json:"nodes"`
	Ways   []string `json:"held_by"` // shares=v1 and the like
	Took   float64  `json:"took"`    // from the first submission to the last end
	// Others is how many processors other programs of this host used.
	Others *float64          `json:"others_cpu,omitempty"`
	Jobs   []sharedJobView   `json:"jobs"`
	Checks []sharedCheckView `json:"checks"`
}

// sharedJobView is one job. Share and used are means over the time in which they were
// measured and the share stayed the same, processors.
type sharedJobView struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"` // long, late or large
	Service   string       `json:"service"`
	State     client.State `json:"state"`
	Submitted float64      `json:"submitted"` // since the first submission
	Wait      float64      `json:"wait"`      // from its sending until it was seen to run, for the first time
	Response  float64      `json:"response"`
	Measured  float64      `json:"measured"`
	Share     float64      `json:"share_mean"`
	Used      float64      `json:"used_mean"`
	Error     float64      `json:"error"` // used over share, less 1
	Stops     int          `json:"stops"` // paused, or ended at a checkpoint to go on later
	Moves     int          `json:"moves"`
}

func summarizeShared(b *sharedBoard, found *sharedResults) *sharedView {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &sharedView{Schema: "drover.demo-dfrs/1", Policy: "dfrs"}
	if b.use != nil {
		v.Nodes, v.Ways = len(b.use.Nodes), waysOf(b.use.Capabilities)
	}
	first := b.jobs[0].job.Submitted
	for n := range b.jobs {
		j := &b.jobs[n]
		row := sharedJobView{
			ID: j.job.ID, Kind: j.kind, Service: j.service, State: j.job.State, Submitted: j.job.Submitted.Sub(first).Seconds(),
			Response: j.job.Ended.Sub(j.job.Submitted).Seconds(), Measured: j.meter.span.Seconds(), Error: j.meter.off(), Stops: j.stops, Moves: j.moves,
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
func (v *sharedView) failed() (n int) {
	for _, c := range v.Checks {
		if c.Result == checkFailed {
			n++
		}
	}
	return n
}

// print writes the summary for people.
func (v *sharedView) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "%s on %s in %.1fs under %s, %s\n\n", plural(len(v.Jobs), "job"), plural(v.Nodes, "node"), v.Took, v.Policy, heldBy(v.Ways))
	t := newTable(w, table.Row{"job", "", "service", "submitted", "wait", "response", "measured", "share", "used", "error", "stops", "moves", "state"},
		"submitted", "wait", "response", "measured", "share", "used", "error", "stops", "moves")
	for n := range v.Jobs {
		j := &v.Jobs[n]
		row := table.Row{
			fmt.Sprintf("#%d", n+1), j.Kind, j.Service, fmt.Sprintf("%.1fs", j.Submitted), fmt.Sprintf("%.3fs", j.Wait), fmt.Sprintf("%.1fs", j.Response),
			"-", "-", "-", "-", j.Stops, j.Moves, j.State,
		}
		if j.Measured > 0 {
			row[6], row[7], row[8], row[9] = fmt.Sprintf("%.1fs", j.Measured), fmt.Sprintf("%.3f", j.Share), fmt.Sprintf("%.3f", j.Used), fmt.Sprintf("%+.1f%%", 100*j.Error)
		}
		t.AppendRow(row)
	}
	t.Render()
	_, _ = fmt.Fprint(w, "(share and used: means, in processors, over the time that was measured: that in which the share stayed the same\n"+
		" from one measurement to the next; stops: at a checkpoint, to make place)\n\n")
	checks := newTable(w, table.Row{"check", "", ""})
	for _, c := range v.Checks {
		checks.AppendRow(table.Row{c.Name, strings.ToUpper(c.Result), c.Text})
	}
	checks.Render()
	_, err := fmt.Fprintln(w)
	return err
}

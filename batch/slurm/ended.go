package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Ended is what Slurm says about a job, as a rule one that has ended.
type Ended struct {
	ID       string
	State    string
	Reason   string
	Code     int    // exit code of its script
	Signal   string // that ended the script, "" for none: SIGKILL
	Start    time.Time
	End      time.Time
	NodeList string // "" if it was never started
	Name     string
	Comment  string
}

// live are the states of jobs that have not ended.
var live = []string{
	"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT",
	"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT", "POWER_UP_NODE",
}

// Over says whether the job has ended.
func (e *Ended) Over() bool { return !slices.Contains(live, e.State) }

// details are what is asked for about single jobs. Sizes are as wide as anything
// can be: what is longer is cut off.
var details = []string{
	"JobID:40", "State:20", "Reason:40", "exit_code:20", "StartTime:20", "EndTime:20", "NodeList:400", "Name:200", "Comment:400",
}

// mostAsked is how many jobs one command is asked about.
const mostAsked = 400

// Jobs returns what the controller still knows about jobs, those that have ended
// too, with one command for several hundred. It leaves out those it does not know:
// it remembers them for MinJobAge.
func (c *Commands) Jobs(ctx context.Context, ids []string) ([]Ended, error) {
	return c.jobs(ctx, "--jobs=", ids)
}

// JobsNamed is Jobs for those whose numbers are not known. Names are not unique: those
// of other people's jobs may be among them, and two of one name.
func (c *Commands) JobsNamed(ctx context.Context, names []string) ([]Ended, error) {
	return c.jobs(ctx, "--name=", names)
}

func (c *Commands) jobs(ctx context.Context, option string, which []string) ([]Ended, error) {
	var all []Ended
	for some := range slices.Chunk(which, mostAsked) {
		got, err := c.someJobs(ctx, option+strings.Join(some, ","))
		if err != nil {
			return nil, fmt.Errorf("ended jobs: %w", err)
		}
		all = append(all, got...)
	}
	return all, nil
}

func (c *Commands) someJobs(ctx context.Context, which string) ([]Ended, error) {
	mark := token()
	// Records begin with the mark, like those of the other form.
	format := "JobID:1" + mark + "," + strings.Join(details, mark+",") + mark
	out, err := c.run(ctx, nil, "squeue", "--noheader", "--states=all", which, "--Format="+format)
	var refused *RefusedError
	if errors.As(err, &refused) && strings.Contains(refused.Text, "Invalid job id") {
		return nil, nil // the only one, or all, are forgotten
	}
	if err != nil {
		return nil, err
	}
	return parseEnded(out, mark)
}

// parseEnded reads records that end with mark. The first field is there for their
// beginning only.
func parseEnded(text, mark string) ([]Ended, error) {
	n := len(details) + 1
	fields := strings.Split(text, mark)
	if strings.TrimSpace(fields[len(fields)-1]) != "" || (len(fields)-1)%n != 0 {
		return nil, &FormatError{Source: "squeue", Field: "records", Value: fields[len(fields)-1]}
	}
	var all []Ended
	for f := range slices.Chunk(fields[:len(fields)-1], n) {
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		f = f[1:]
		e := Ended{ID: f[0], State: f[1], Reason: f[2], NodeList: null(f[6]), Name: f[7], Comment: f[8]}
		wait, err := strconv.ParseUint(f[3], 10, 32)
		start, okS := parseInstant(f[4])
		end, okE := parseInstant(f[5])
		if err != nil || !okS || !okE || e.ID == "" || e.State == "" {
			return nil, &FormatError{Source: "squeue", Field: "job", Value: strings.Join(f[:6], " ")}
		}
		e.Code, e.Signal = exitOf(uint32(wait))
		e.Start, e.End = start, end
		all = append(all, e)
	}
	return all, nil
}

// exitOf reads the raw status of wait(2), which is how Slurm keeps it.
func exitOf(wait uint32) (code int, signal string) {
	status := syscall.WaitStatus(wait)
	if status.Signaled() {
		return 0, signalName(int(status.Signal()))
	}
	return int(wait>>8) & 0xff, ""
}

func signalName(n int) string {
	if n == 0 {
		return ""
	}
	if s := unix.SignalName(syscall.Signal(n)); s != "" {
		return s
	}
	return "signal " + strconv.Itoa(n)
}

// null returns "" for what Slurm prints for nothing.
func null(text string) string {
	switch text {
	case "(null)", "N/A", "None assigned", "n/a", "Unknown":
		return ""
	}
	return text
}

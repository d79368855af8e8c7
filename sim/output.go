package sim

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// JobsSchema names the version of the columns of jobs.csv: Batsim's columns and the site.
const JobsSchema = "drover.sim.jobs/1"

// TimingSchema names the version of a Timing in JSON.
const TimingSchema = "drover.sim.timing/1"

// Timing is the cost of a run. It depends on the machine, so it is separate from the Summary.
type Timing struct {
	Schema        string  `json:"schema"`
	WallSeconds   float64 `json:"wall_seconds"`    // reading, simulating and measuring
	JobsPerSecond float64 `json:"jobs_per_second"` // over WallSeconds
	PeakMemory    int64   `json:"peak_memory"`     // bytes; 0 if the system does not report it
}

// NewTiming returns the cost of a run with the given number of jobs.
func NewTiming(jobs int, wall time.Duration, peak int64) Timing {
	t := Timing{Schema: TimingSchema, WallSeconds: wall.Seconds(), PeakMemory: peak}
	if wall > 0 {
		t.JobsPerSecond = float64(jobs) / t.WallSeconds
	}
	return t
}

// Result is the complete result of a run.
type Result struct {
	Summary  Summary
	Workload *Workload
	Outcomes []Outcome
}

// WriteJSON writes a value as indented JSON with a final newline.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteFiles writes summary.json, timing.json and jobs.csv to a folder and creates the folder
// if needed.
func (r *Result) WriteFiles(dir string, t Timing) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"summary.json", func(w io.Writer) error { return WriteJSON(w, r.Summary) }},
		{"timing.json", func(w io.Writer) error { return WriteJSON(w, t) }},
		{"jobs.csv", r.WriteJobs},
	} {
		if err := writeFile(filepath.Join(dir, f.name), f.write); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// writeFile writes a file. It removes an incomplete file, because that would look complete.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// WriteJobs writes a row for each job, in order of submission, with Batsim's column names and
// the site. Times are in seconds with a fraction if needed; the final state is Batsim's. With
// several sites a job's number has the site of its trace as a prefix, like Batsim's workload
// prefix: "kth!17".
func (r *Result) WriteJobs(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{
		"job_id", "submission_time", "requested_number_of_resources", "requested_time", "success", "final_state",
		"starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch",
		"allocated_resources", "site",
	}); err != nil {
		return err
	}
	row := make([]string, 14)
	for i := range r.Outcomes {
		j, o := &r.Workload.Jobs[i], &r.Outcomes[i]
		success, state := "1", "COMPLETED_SUCCESSFULLY"
		if o.Killed {
			success, state = "0", "COMPLETED_WALLTIME_REACHED"
		}
		run, response := o.End.Sub(o.Start), o.End.Sub(j.Submit)
		id := strconv.FormatInt(j.ID, 10)
		if len(r.Summary.Sites) > 1 {
			id = r.Summary.Sites[j.Home].Name + "!" + id
		}
		row = append(row[:0], id, Seconds(j.Submit), strconv.Itoa(int(o.Width)), Seconds(o.Walltime),
			success, state, Seconds(o.Start), Seconds(run), Seconds(o.End), Seconds(o.Start.Sub(j.Submit)),
			Seconds(response), strconv.FormatFloat(float64(response)/float64(max(o.run(), batch.Second)), 'g', -1, 64),
			o.Processors, r.Summary.Sites[o.Site].Name)
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/server/services/matrixmarket"
)

// demoSummary is the summary of a demo. Times are seconds.
type demoSummary struct {
	Seed       uint64            `json:"seed"`
	Jobs       int               `json:"jobs"`
	Done       int               `json:"done"`
	Makespan   float64           `json:"makespan"` // from the first submission to the last end
	Slowness   float64           `json:"slowness"` // of the host: 1 is usual, and walltimes are so many times longer
	Sites      []demoSiteSummary `json:"sites"`
	Checks     demoChecks        `json:"checks"`
	ClosestJob string            `json:"closestJob,omitempty"` // the job of the closest decision
	Decision   *client.Decision  `json:"decision,omitempty"`
}

// demoSiteSummary holds the figures of a site. The error of an estimate is how much later
// than estimated a job ended.
type demoSiteSummary struct {
	Name         string              `json:"name"`
	Policy       string              `json:"policy"`
	Speed        float64             `json:"speed"`
	Processors   int                 `json:"processors"`
	Jobs         int                 `json:"jobs"`
	WaitMean     float64             `json:"waitMean"`
	ResponseMean float64             `json:"responseMean"`
	EstimateKind client.EstimateKind `json:"estimateKind,omitempty"`
	ErrorBias    float64             `json:"errorBias"` // mean error
	ErrorP50     float64             `json:"errorP50"`  // of absolute errors
	ErrorP90     float64             `json:"errorP90"`
	Late         int                 `json:"late"` // jobs that ended after the estimate
}

// demoChecks are the results of checking the outputs of the jobs.
type demoChecks struct {
	Solutions   int      `json:"solutions"`   // of linear systems, that were checked
	ResidualMax float64  `json:"residualMax"` // relative, of the worst
	Pictures    int      `json:"pictures"`    // that decode, in the size that was asked for
	Saved       []string `json:"saved,omitempty"`
	Problems    []string `json:"problems,omitempty"`
}

// summarize summarizes a stream after all jobs have ended.
func summarize(b *demoBoard, seed uint64) demoSummary {
	v := demoSummary{Seed: seed, Jobs: len(b.stream), Sites: []demoSiteSummary{}}
	bySite := make(map[string][]*client.Job)
	var first, last float64
	for _, j := range b.jobs {
		if j == nil {
			continue
		}
		if j.State == client.Done {
			v.Done++
		}
		submitted, ended := j.Submitted.Sub(b.start).Seconds(), j.Ended.Sub(b.start).Seconds()
		if len(bySite) == 0 {
			first, last = submitted, ended
		}
		first, last = min(first, submitted), max(last, ended)
		bySite[j.Site] = append(bySite[j.Site], j)
	}
	v.Makespan = last - first
	for i := range b.sites {
		s := &b.sites[i]
		v.Sites = append(v.Sites, siteSummary(s, bySite[s.Name]))
	}
	return v
}

func siteSummary(s *client.Site, jobs []*client.Job) demoSiteSummary {
	v := demoSiteSummary{Name: s.Name, Policy: s.Policy, Speed: s.Speed, Processors: s.Processors, Jobs: len(jobs)}
	if len(jobs) == 0 {
		return v
	}
	v.EstimateKind = jobs[0].EstimateKind
	var waits, responses, errors, sizes []float64
	for _, j := range jobs {
		started := j.Started
		if started.IsZero() { // it never did
			started = j.Ended
		}
		waits = append(waits, started.Sub(j.Submitted).Seconds())
		responses = append(responses, j.Ended.Sub(j.Submitted).Seconds())
		late := lateness(j)
		errors, sizes = append(errors, late), append(sizes, math.Abs(late))
		if late > 0 {
			v.Late++
		}
	}
	slices.Sort(sizes)
	v.WaitMean, v.ResponseMean, v.ErrorBias = stat.Mean(waits, nil), stat.Mean(responses, nil), stat.Mean(errors, nil)
	v.ErrorP50, v.ErrorP90 = stat.Quantile(0.5, stat.Empirical, sizes, nil), stat.Quantile(0.9, stat.Empirical, sizes,
		nil)
	return v
}

// print writes the summary for people.
func (v *demoSummary) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "%d of %d jobs done in %.1fs (seed %d)\n\n", v.Done, v.Jobs, v.Makespan, v.Seed)
	t := cmdline.NewTable(w, table.Row{
		"site", "policy", "speed", "processors", "jobs", "wait", "response", "estimate", "bias", "p50", "p90", "late",
	},
		"speed", "processors", "jobs", "wait", "response", "bias", "p50", "p90", "late")
	for _, s := range v.Sites {
		seconds := func(format string, x float64) string {
			if s.Jobs == 0 {
				return "-"
			}
			return fmt.Sprintf(format+"s", x)
		}
		t.AppendRow(table.Row{
			s.Name, s.Policy, s.Speed, s.Processors, s.Jobs, seconds("%.1f", s.WaitMean),
			seconds("%.1f", s.ResponseMean), s.EstimateKind, seconds("%+.1f", s.ErrorBias), seconds("%.1f", s.ErrorP50),
			seconds("%.1f", s.ErrorP90), s.Late,
		})
	}
	t.Render()
	_, _ = fmt.Fprint(w, "(wait and response: means; bias, p50, p90: errors of the estimated end, negative is early, "+
		"because estimates\n"+
		" use walltimes; late: jobs that ended after the estimate, which a promise rules out)\n\n")
	if v.Slowness > 1 {
		_, _ = fmt.Fprintf(w, "this host is %.1f times slower than usual, or busy: walltimes and estimates are "+
			"longer\n\n", v.Slowness)
	}
	_, err := fmt.Fprintf(w, "checked: %d solutions, worst residual %.1e; %d pictures\n", v.Checks.Solutions,
		v.Checks.ResidualMax, v.Checks.Pictures)
	for _, name := range v.Checks.Saved {
		_, _ = fmt.Fprintf(w, "saved: %s\n", name)
	}
	for _, p := range v.Checks.Problems {
		_, _ = fmt.Fprintf(w, "WRONG: %s\n", p)
	}
	return err
}

// worstResidual is the largest relative residual that passes; a good solution
// has about 1e-16.
const worstResidual = 1e-12

// checkResults downloads the outputs of the jobs and checks them. It saves the first
// solution and the largest picture in dir, if given.
func checkResults(ctx context.Context, grid *client.Client, b *demoBoard, dir string) (demoChecks, error) {
	var v demoChecks
	var solution, picture []byte
	for n, j := range b.jobs {
		output := map[string]string{"lu": "solution", "mandelbrot": "image"}[j.Service]
		if j.State != client.Done {
			v.Problems = append(v.Problems, fmt.Sprintf("job %d, %s at %s: %s (%s)", n+1, j.Service, j.Site, j.State,
				j.Outcome.Reason))
			continue
		}
		if output == "" {
			continue
		}
		var file bytes.Buffer
		err := grid.Download(ctx, j.ID, output, &file)
		switch {
		case err != nil && ctx.Err() != nil:
			return v, err
		case err == nil && j.Service == "lu":
			err = v.solution(b.stream[n].values["matrix"].([]byte), file.Bytes())
			if solution == nil {
				solution = file.Bytes()
			}
		case err == nil:
			err = v.picture(&b.stream[n], file.Bytes())
			if file.Len() > len(picture) {
				picture = file.Bytes()
			}
		}
		if err != nil {
			v.Problems = append(v.Problems, fmt.Sprintf("job %d, %s at %s: %v", n+1, j.Service, j.Site, err))
		}
	}
	if dir == "" {
		return v, nil
	}
	for _, keep := range []struct {
		name    string
		content []byte
	}{{"mandelbrot.png", picture}, {"solution.mtx", solution}} {
		if keep.content == nil {
			continue
		}
		path := filepath.Join(dir, keep.name)
		if err := os.WriteFile(path, keep.content, 0o644); err != nil {
			return v, fmt.Errorf("--out: %w", err)
		}
		v.Saved = append(v.Saved, path)
	}
	return v, nil
}

func (v *demoChecks) solution(matrix, file []byte) error {
	r, err := residual(matrix, file)
	if err != nil {
		return err
	}
	if !(r <= worstResidual) { // also refuses NaN
		return fmt.Errorf("residual %.1e, accepted: at most %.0e", r, worstResidual)
	}
	v.Solutions++
	v.ResidualMax = max(v.ResidualMax, r)
	return nil
}

// residual returns |A x - b| / (|A| |x| + |b|) in infinity norms, where b is A times ones.
func residual(matrix, solution []byte) (float64, error) {
	m, err := matrixmarket.Read(bytes.NewReader(matrix), matrixmarket.Limits{})
	if err != nil {
		return 0, fmt.Errorf("matrix: %w", err)
	}
	s, err := matrixmarket.Read(bytes.NewReader(solution), matrixmarket.Limits{})
	if err != nil {
		return 0, fmt.Errorf("solution: %w", err)
	}
	if s.Rows != m.Rows || s.Cols != 1 {
		return 0, fmt.Errorf("solution of %d x %d, accepted: %d x 1", s.Rows, s.Cols, m.Rows)
	}
	a, err := m.Dense()
	if err != nil {
		return 0, fmt.Errorf("matrix: %w", err)
	}
	x, err := s.Dense()
	if err != nil {
		return 0, fmt.Errorf("solution: %w", err)
	}
	var r, normA, normX, normB float64
	for i := range m.Rows {
		var ax, b, sum float64
		for k, aik := range a[i*m.Cols : (i+1)*m.Cols] {
			ax, b, sum = ax+aik*x[k], b+aik, sum+math.Abs(aik)
		}
		r, normA, normX, normB = max(r, math.Abs(ax-b)), max(normA, sum), max(normX, math.Abs(x[i])),
			max(normB, math.Abs(b))
	}
	return r / (normA*normX + normB), nil
}

func (v *demoChecks) picture(r *demoRequest, file []byte) error {
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	if got := picture.Bounds().Size(); int64(got.X) != r.values["columns"] || int64(got.Y) != r.values["rows"] {
		return fmt.Errorf("picture of %d x %d, accepted: %d x %d", got.X, got.Y, r.values["columns"], r.values["rows"])
	}
	v.Pictures++
	return nil
}

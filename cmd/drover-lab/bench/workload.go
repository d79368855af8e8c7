package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Anywhere is the cluster of a job that may run on any.
const Anywhere = -1

// Job is a job of a workload.
type Job struct {
	ID       string
	At       time.Duration // of its submission, from the beginning
	Width    int           // processors
	Runtime  time.Duration // whole tenths of a second
	Walltime time.Duration // whole minutes, more than the runtime
	Cluster  int           // of a local user's, from 0; Anywhere
}

// Workload is how jobs are made.
type Workload struct {
	Seed     uint64
	Clusters []int         // processors of each
	Window   time.Duration // in which jobs are submitted
	// Load is the work that comes within the window over what the clusters can do in
	// it; Local is the part of it that comes from the clusters' own users.
	Load, Local       float64
	Shortest, Longest time.Duration // runtimes
}

// slack is by how much a walltime exceeds the runtime at least: jobs begin a moment
// after their walltimes do.
const slack = 5 * time.Second

// Generate makes a workload, in the order of submission: a function of what it is
// given.
//
// Runtimes are log-uniform. Seven of ten widths are powers of two, the others
// log-uniform too; none is more than half of the smallest cluster, or, of a local
// user's, of the cluster. Users ask for one to five times what they need, one of five
// for just that. Instants of submission are uniform in the window.
func (w *Workload) Generate() []Job {
	var jobs []Job
	total := 0
	for _, n := range w.Clusters {
		total += n
	}
	jobs = append(jobs, w.stream(0, Anywhere, "grid", slices.Min(w.Clusters)/2, (1-w.Local)*float64(total))...)
	for i, n := range w.Clusters {
		jobs = append(jobs, w.stream(uint64(i+1), i, fmt.Sprintf("local%d", i+1), n/2, w.Local*float64(n))...)
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.At, b.At) })
	return jobs
}

// stream makes the jobs of one origin, until their work is that of so many processors
// over the window.
func (w *Workload) stream(number uint64, cluster int, name string, widest int, processors float64) []Job {
	r := rand.New(rand.NewPCG(w.Seed, number))
	var jobs []Job
	for work := w.Load * processors * w.Window.Seconds(); work > 0; {
		j := Job{ID: fmt.Sprintf("%s-%d", name, len(jobs)+1), Cluster: cluster, Width: width(r, max(widest, 1))}
		j.At = time.Duration(r.Float64() * float64(w.Window))
		j.Runtime = time.Duration(logUniform(r, w.Shortest.Seconds(), w.Longest.Seconds())*10) * time.Second / 10
		asked := j.Runtime
		if r.Float64() >= 0.2 {
			asked = time.Duration(float64(asked) * (1 + 4*r.Float64()))
		}
		j.Walltime = (max(asked, j.Runtime+slack) + time.Minute - 1).Truncate(time.Minute)
		work -= float64(j.Width) * j.Runtime.Seconds()
		jobs = append(jobs, j)
	}
	return jobs
}

func width(r *rand.Rand, widest int) int {
	if r.Float64() < 0.7 {
		return 1 << r.IntN(int(math.Log2(float64(widest)))+1)
	}
	return int(logUniform(r, 1, float64(widest+1)))
}

// logUniform draws from [low, high).
func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(high/low))
}

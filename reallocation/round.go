package reallocation

import (
	"iter"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Transfer returns how long the input of a job travels between two sites, and whether that
// is known.
type Transfer func(job, from, to int) (batch.Duration, bool)

// Round is one round of reallocation. Make one with NewRound.
type Round struct {
	config   Config
	sites    int
	jobs     []Job
	transfer Transfer

	est      answers
	present  []batch.Duration // by job: the ECT of its present slot when it was last asked for
	standing bool             // regular: at its own site a job is asked about its present slot
	bias     uint64           // added to ECTs at other sites when sites are compared
	done     []bool           // by job: picked, or excluded
	again    []again          // scratch
	alike    alike
	record   Record

	yield     func(*Step) bool
	step      Step
	questions []Question
	asked     []Question // under construction: two for each site, the second about present slots
	open      []int      // indices in asked of questions with jobs
}

// NewRound returns a round over waiting jobs, in order of submission, at the given number
// of sites. The configuration must be valid. With a nil transfer no transfer time is
// known.
func NewRound(c Config, sites int, jobs []Job, transfer Transfer) *Round {
	return &Round{
		config: c, sites: sites, jobs: jobs, transfer: transfer, est: newAnswers(sites, jobs),
		present: make([]batch.Duration, len(jobs)), standing: c.Algorithm == Regular,
		done: make([]bool, len(jobs)), asked: make([]Question, 2*sites), record: Record{Jobs: len(jobs)},
	}
}

// Record returns the figures of the round so far.
func (r *Round) Record() Record { return r.record }

// Steps yields the steps of the round. It can be ranged over once. A driver that breaks
// off leaves jobs held: their leases put them back.
func (r *Round) Steps() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		if len(r.jobs) == 0 {
			return
		}
		r.yield = yield
		if r.config.Algorithm == AllCancellation {
			r.allCancellation()
		} else {
			r.regular()
		}
	}
}

// do yields a step; its answers are in r.step. It returns false if the round is broken
// off.
func (r *Round) do(s Step) bool {
	r.step = s
	return r.yield(&r.step)
}

// window splits jobs, which are in order of submission, at the heuristic's window.
func (r *Round) window(jobs []int) (compared, rest []int) {
	n := len(jobs)
	switch {
	case r.config.Heuristic == MCT:
		n = 0
	case r.config.Window != All:
		n = min(n, int(r.config.Window))
	}
	return jobs[:n:n], jobs[n:]
}

// Job is a waiting job as a round sees it. Sites and jobs are numbered from 0.
type Job struct {
	Site  int   // where it waits
	Width int32 // of its present shape
	// Walltime is that of its present shape if its site's estimates are promises: later jobs
	// then do not delay it. 0 means that they are not promises.
	Walltime batch.Duration
	// Like groups jobs with equal requests except for their size: of two jobs that are alike,
	// the one with the smaller Size completes no later at any site under any plan, if both are
	// submitted there with their input in place. Their inputs have the same transfer times. 0
	// means like no other job.
	Like int
	Size int64
	Past Past
}

// Past is what former rounds have done to a job. The driver keeps it.
type Past struct {
	Moves int // to other sites
	Later int // rounds that delayed it
}

// StepKind is what the driver has to do.
type StepKind uint8

// The steps.
const (
	// Ask: fill in the Completions of each question. Sites can be asked at the same time.
	Ask StepKind = iota + 1
	// Hold: take Jobs out of their sites' plans. Set Refused for those that no longer wait or
	// must not be touched. The plans are then recomputed without the held jobs.
	Hold
	// Move: move Job, which waits at From, to To now. Set Failed if it does not move.
	Move
	// Put: add Job, which is held at From, at the end of the plan of To with the best shape
	// there. To can be From. A driver may collect puts and order them at the end if its sites
	// answer questions as if they had the jobs. Set Failed if the job cannot be put there.
	Put
	// Back: return Job, which is held at From, to its old slot, because no site can take it,
	// not even its own. To is From. A driver that cannot restore the slot puts the job at the
	// end.
	Back
)

// Step is what the driver has to do next. Its fields are valid until it continues the
// iteration.
type Step struct {
	Kind      StepKind
	Questions []Question // Ask
	Jobs      []int      // Hold
	Refused   []bool     // Hold, by position in Jobs; to be filled in
	Job       int        // Move, Put, Back
	From, To  int        // Move, Put, Back
	Gain      batch.Duration
	// Least is the minimum gain of a job that changes sites.
	Least batch.Duration
	// Past is the job's new Past once it is moved or put.
	Past   Past
	Failed bool // Move, Put; to be filled in
}

// Question is about many jobs at one site.
type Question struct {
	Site int
	// Standing asks for the ECTs of the present slots of jobs that wait there. Otherwise the
	// question is about each job as if it alone were submitted there.
	Standing bool
	Jobs     []int
	// After[i] is the transfer time of the input of Jobs[i].
	After []batch.Duration
	// Completions[i] is the answer for Jobs[i], from the beginning of the round, which the
	// driver fills in. batch.Forever means that the job cannot run there or no longer waits
	// there, or that the site has not answered.
	Completions []batch.Duration
}

// Record is the figures of a round.
type Record struct {
	Jobs      int   // that waited
	Held      int   // all-cancellation
	Kept      int   // jobs that kept their slots: delayed too often to be held, or taken by no site
	Picked    int   // by the heuristic, or in order of submission
	Moves     int   // carried out
	Failed    int   // moves and puts that the driver could not carry out
	Later     int   // delayed jobs
	Asks      int   // steps that asked
	Questions int   // each to one site
	Estimates int64 // jobs in all questions
	// Gain is the sum of the gains of moved jobs.
	Gain batch.Duration
}

// query adds a question about a job to the next step. Until it is answered, the site
// counts as impossible for the job, so that a search for the minimum finds what else to
// ask.
func (r *Round) query(j, s int, standing bool) {
	own, k := r.jobs[j].Site, 2*s
	pending := r.est.made(never, s)
	if standing {
		k++
		r.est.standing[j] = pending
	} else {
		r.row(j)[s] = pending
	}
	q := &r.asked[k]
	if len(q.Jobs) == 0 {
		q.Site, q.Standing = s, standing
		r.open = append(r.open, k)
	}
	var after batch.Duration
	if own != s && r.transfer != nil {
		after, _ = r.transfer(j, own, s)
	}
	q.Jobs, q.After = append(q.Jobs, j), append(q.After, after)
}

// queryAll adds questions about a job at each site that it can go to.
func (r *Round) queryAll(j int) {
	own := r.jobs[j].Site
	r.query(j, own, r.standing)
	if !r.mayLeave(j) {
		return
	}
	for s := range r.sites {
		if s != own {
			r.query(j, s, false)
		}
	}
}

// mostAtOnce bounds the jobs of one question when all are asked about: a question takes
// three times the memory of its answers.
const mostAtOnce = 1000

// askEach asks the questions that query adds for each job. It returns false if the round
// is broken off.
func (r *Round) askEach(jobs []int, query func(j int)) bool {
	for some := range slices.Chunk(jobs, mostAtOnce) {
		for _, j := range some {
			query(j)
		}
		if !r.ask() {
			return false
		}
	}
	return true
}

// ask yields the added questions, if there are any.
func (r *Round) ask() bool {
	if len(r.open) == 0 {
		return true
	}
	r.questions = r.questions[:0]
	for _, k := range r.open {
		q := &r.asked[k]
		q.Completions = slices.Grow(q.Completions[:0], len(q.Jobs))[:len(q.Jobs)]
		r.questions = append(r.questions, *q)
	}
	ok := r.do(Step{Kind: Ask, Questions: r.questions})
	r.record.Asks++
	for i := range r.questions {
		q := &r.questions[i]
		r.record.Questions++
		r.record.Estimates += int64(len(q.Jobs))
		for k, j := range q.Jobs {
			w := r.est.made(code(q.Completions[k]), q.Site)
			if q.Standing {
				r.est.standing[j] = w
				r.present[j] = duration(uint64(w) >> versionBits)
			} else {
				r.est.rows[j][q.Site] = w
			}
		}
	}
	for _, k := range r.open {
		r.asked[k].Jobs, r.asked[k].After = r.asked[k].Jobs[:0], r.asked[k].After[:0]
	}
	r.open = r.open[:0]
	return ok
}

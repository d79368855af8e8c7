package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// Job is a waiting job as a round sees it. Sites and jobs have numbers from 0.
type Job struct {
	Site  int   // where it waits
	Width int32 // of the shape it has now
	// Walltime is that of the shape it has now, if its site's estimates are promises:
	// then others that come there do not delay it. 0 says that they are not.
	Walltime batch.Duration
	// Like groups jobs that ask for the same but for their size: of two that are alike
	// the one of the lesser Size would be completed no later, at any site and with any
	// plan, if either was submitted there with its input in place. From one site to
	// another their input travels for the same time. 0 is like no other.
	Like int
	Size int64
	Past Past
}

// Past is what former rounds have done to a job. Whoever runs rounds keeps it.
type Past struct {
	Moves int // to other sites
	Later int // rounds that put it back later than it was
}

// StepKind says what a round wants.
type StepKind uint8

// The steps.
const (
	// Ask: fill in the Completions of each of Questions. Sites may be asked at the
	// same time.
	Ask StepKind = iota + 1
	// Hold: take Jobs out of their sites' plans; set Refused of those that do not
	// wait any more or are not to be touched. Plans are then made anew for those
	// who stay.
	Hold
	// Move: let Job, which waits at From, go to To now; set Failed if it does not.
	Move
	// Put: Job, which is held at From, comes last in the plan of To with the shape
	// that suits it best there; To may be From. A driver may collect what is put
	// and order it at the end, if its sites answer questions as if they had it. Set
	// Failed if that cannot be.
	Put
	// Back: Job, which is held at From, goes back to where it was, as no site can take
	// it, not even its own, which may drain. To is From, too. A driver that has no way
	// back puts it there as the last.
	Back
)

// Step is what a round wants done before it goes on. Its fields are valid until
// then.
type Step struct {
	Kind      StepKind
	Questions []Question // Ask
	Jobs      []int      // Hold
	Refused   []bool     // Hold, by position in Jobs; to be filled in
	Job       int        // Move, Put, Back
	From, To  int        // Move, Put, Back
	Gain      batch.Duration
	// Least is the gain that was demanded of a job that goes elsewhere.
	Least batch.Duration
	// Past is what to keep of the job once it is moved or put.
	Past   Past
	Failed bool // Move, Put; to be filled in
}

// Question is about many jobs at one site.
type Question struct {
	Site int
	// Standing asks for the ECTs of jobs that wait there, as they stand. Otherwise
	// it is as if each job, alone, were submitted there.
	Standing bool
	Jobs     []int
	// After[i] is how long the input of Jobs[i] travels there.
	After []batch.Duration
	// Completions[i] is the answer for Jobs[i]: from the beginning of the round.
	// batch.Forever says that it cannot be there or, if it stands there, that it
	// waits no more; also that the site has not answered. To be filled in.
	Completions []batch.Duration
}

// Record is what a round has come to.
type Record struct {
	Jobs      int   // that waited
	Held      int   // all-cancellation
	Kept      int   // that keep their places: put back too often to be held, or taken by nobody
	Picked    int   // by the heuristic, or in order of submission
	Moves     int   // carried out
	Failed    int   // moves and puts that the driver could not do
	Later     int   // jobs put back later than they were
	Asks      int   // steps that asked
	Questions int   // to one site each
	Estimates int64 // jobs asked about, over all questions
	// Gain is the sum over the jobs that were moved.
	Gain batch.Duration
}

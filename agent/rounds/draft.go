package rounds

import "github.com/seed-9b8f70bb/drover/batch"

// Drafts are the sites' copies of their plans. The driver keeps them.
type Drafts interface {
	// Call sends the calls, each to another site, at the same time, and fills in
	// what is answered.
	Call(calls []*Call)
}

// Call is one message to the draft of one site: it is begun, edited, asked and
// ended, in this order. Jobs are indices into Input.Jobs.
type Call struct {
	Site      int
	Begin     bool // make the copy now
	Edits     []Edit
	Questions []Question
	End       bool // throw it away

	// To be filled in. Failed says that the site has not answered, or has no draft.
	Failed  bool
	Edited  []Answer // by position in Edits
	Answers []Answer // by position in Questions
}

// Edit takes a job out of a draft or puts it in, tuned anew, as the last one.
type Edit struct {
	Job   int
	Put   bool
	After batch.Duration // of a put: how long its input travels
}

// Question asks when a job would be completed as it stands, or if it was put in.
type Question struct {
	Job      int
	Standing bool
	After    batch.Duration // how long its input travels, unless it stands there
}

// Answer is what a job has or would get in a draft.
type Answer struct {
	Refused    bool           // it cannot be there, is not there or is not to be touched
	Completion batch.Duration // from the beginning of the draft
	Shape      batch.Shape
	Promised   bool // the completion is never later
}

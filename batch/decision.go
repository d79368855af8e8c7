package batch

// DecisionKind says what a policy wants done.
type DecisionKind uint8

// The decisions of a policy.
const (
	Start    DecisionKind = iota + 1 // Job begins on Places
	Pause                            // Job leaves its processors and keeps its state; Stopped follows
	Resume                           // Job, paused, goes on on Places; Resumed follows
	Migrate                          // Job moves to Places; Stopped says when the old ones are free, Resumed when it goes on
	SetShare                         // Job goes on where it is with new shares
	Kill                             // Job is ended for good; Finish follows
)

// Location is part of a job's allocation: tasks of one group on one node.
type Location struct {
	Node       int32 // index in Platform.Nodes
	Processors int32 // processors, or tasks where shares are below One
	Group      int32 // index in Job.Groups; 0 without groups
	Share      Share // of a processor for each task; One for all of it
}

// Decision is one thing that a policy wants done now.
type Decision struct {
	Kind DecisionKind
	Job  Handle
	// Places is where: nil on Start and Resume means any Shape.Width free
	// processors at full share, for the driver to pick; what a planner charges
	// beyond them for memory is its own account. On SetShare it repeats the job's
	// locations with their new shares.
	Places []Location
}

// Decisions is the caller's buffer of one pass, in the order in which they are
// to be carried out: what frees comes before what takes.
type Decisions struct {
	List   []Decision
	places []Location
}

// Reset empties the buffer and keeps its memory.
func (d *Decisions) Reset() {
	d.List = d.List[:0]
	d.places = d.places[:0]
}

// Start appends the start of job on any free processors.
func (d *Decisions) Start(job Handle) {
	d.List = append(d.List, Decision{Kind: Start, Job: job})
}

// Add appends a decision whose locations are copied into the buffer; they are
// valid until the next Reset.
func (d *Decisions) Add(kind DecisionKind, job Handle, places ...Location) {
	dec := Decision{Kind: kind, Job: job}
	if len(places) > 0 {
		at := len(d.places)
		d.places = append(d.places, places...)
		dec.Places = d.places[at:len(d.places):len(d.places)]
	}
	d.List = append(d.List, dec)
}

var decisionNames = [...]string{
	Start: "start", Pause: "pause", Resume: "resume", Migrate: "migrate", SetShare: "share", Kill: "kill",
}

// String returns the decision's name.
func (k DecisionKind) String() string {
	if int(k) < len(decisionNames) && decisionNames[k] != "" {
		return decisionNames[k]
	}
	return "unspecified"
}

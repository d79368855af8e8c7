package batch

// DecisionKind is the kind of a Decision.
type DecisionKind uint8

// The decisions of a policy.
const (
	Start  DecisionKind = iota + 1 // Job starts on Allocation
	Pause                          // Job leaves its processors and keeps its state; Stopped follows
	Resume                         // Job, which is paused, continues on Allocation; Resumed follows
	// Job moves to Allocation; Stopped says when the old one is free, Resumed when it continues
	Migrate
	SetShare // Job continues on its allocation with new shares
	Kill     // Job is killed; Finish follows
)

// NodeAllocation is the part of a job's allocation on one node: tasks of one group.
type NodeAllocation struct {
	Node       int32 // index in Platform.Nodes
	Processors int32 // processors, or tasks where shares are below One
	Group      int32 // index in Job.Groups; 0 without groups
	Share      Share // of a processor, for each task; One is a whole processor
}

// Decision is one action that a policy orders now.
type Decision struct {
	Kind DecisionKind
	Job  Handle
	// Allocation is where Job runs. Nil on Start and Resume means any Shape.Width free
	// processors at full share, which the driver picks; processors that a planner
	// charges for memory beyond them are not part of it. On SetShare it is the job's
	// allocation with new shares.
	Allocation []NodeAllocation
}

// Decisions is the caller's buffer of one pass, in the order of execution:
// decisions that free capacity come before those that take it.
type Decisions struct {
	List      []Decision
	allocated []NodeAllocation
}

// Reset empties the buffer and keeps its memory.
func (d *Decisions) Reset() {
	d.List = d.List[:0]
	d.allocated = d.allocated[:0]
}

// Start appends the start of job on any free processors.
func (d *Decisions) Start(job Handle) {
	d.List = append(d.List, Decision{Kind: Start, Job: job})
}

// Add appends a decision and copies its allocation into the buffer; the copy is
// valid until the next Reset.
func (d *Decisions) Add(kind DecisionKind, job Handle, allocation ...NodeAllocation) {
	dec := Decision{Kind: kind, Job: job}
	if len(allocation) > 0 {
		at := len(d.allocated)
		d.allocated = append(d.allocated, allocation...)
		dec.Allocation = d.allocated[at:len(d.allocated):len(d.allocated)]
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

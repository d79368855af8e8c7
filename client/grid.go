package client

import "time"

// Site is one cluster and the server in front of it.
type Site struct {
	Name         string
	Address      string // URL of its server
	Processors   int
	Nodes        []Node
	Speed        float64 // of a processor, 1.0 being the reference
	Policy       string
	Capabilities []string
	MaxWidth     int           // 0: no limit
	MaxWalltime  time.Duration // 0: no limit
	MaxFile      int64         // bytes; 0: no limit

	Status   *Status       // nil when it did not answer
	HeardAgo time.Duration // since its last answer
	Missing  *Missing      // why there is no status
}

// Node is one host of a site.
type Node struct {
	Name       string
	Processors int
	Memory     int64 // bytes; 0 if not known
}

// Status is a site's queue at one instant.
type Status struct {
	Running, Waiting int // jobs
	Busy, Processors int // processors
	Load             float64
	Backlog          float64 // processor-seconds by walltime
	Ended            int64   // jobs since the server started
	Draining         bool    // it takes no new jobs, and those that wait leave
	Degraded         bool    // its disk is full or fails: it takes nothing new
	// Bound is how many of those that wait stay when it drains: they have an agreement,
	// or are in a reservation.
	Bound      int
	Agreements Agreements
	Data       DataUsage // what stays there under handles
	// Commits and Syncs are those of its durable store since the server started.
	Commits, Syncs int64
	// Accuracy is how its estimates were kept, by the names of services: only of
	// Accuracy, not of Sites.
	Accuracy []Accuracy
}

// Accuracy is how a site's estimates for a service were kept, by the last few hundred
// jobs of it that ended there. What came later than estimated is positive.
type Accuracy struct {
	Service    string
	Jobs       int
	Kind       EstimateKind // of the latest one
	Start      Errors
	Completion Errors
	RunRatio   float64 // median of runtimes over what was estimated
}

// Errors sums up errors of estimates.
type Errors struct {
	Bias, Median time.Duration
	P50, P90     time.Duration // of the amounts, early or late
}

// Service is a named thing that sites can run.
type Service struct {
	Name      string
	Doc       string
	Arguments []Argument
	MinWidth  int // processors
	MaxWidth  int
	Moldable  bool
	Memory    int64    // of each task, bytes; 0 if not known
	Sites     []string // that offer it
}

// Argument describes one argument of a service.
type Argument struct {
	Name     string
	Doc      string
	Type     ArgumentType
	Required bool
	Default  string // as text; empty when required
	Minimum  string // as text; empty for no bound
	Maximum  string
	Choices  []string
	Element  ElementType // of a vector or matrix
	// Dimensions are of a vector one, of a matrix two expressions over the other
	// arguments, "n" or "rows(a)"; none for any.
	Dimensions []string
}

// Argument returns the argument of a name, or nil.
func (s *Service) Argument(name string) *Argument {
	for i := range s.Arguments {
		if s.Arguments[i].Name == name {
			return &s.Arguments[i]
		}
	}
	return nil
}

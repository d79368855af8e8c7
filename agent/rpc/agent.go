package rpc

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Agent is the driver behind the service. Each method is one RPC. Errors that a client
// sees are *problem.Problem.
type Agent interface {
	Name() string
	Map(ctx context.Context, jobID string, r Request, patience time.Duration, negotiate bool) (*Decision, error)
	FindJob(ctx context.Context, id string) (Target, Job, error)
	ListJobs(ctx context.Context, filter string, size int, from JobsPosition, view View) (*JobsPage, error)
	MoveJob(ctx context.Context, id, to string, minGain *batch.Duration, reason string) (Job, Target, error)
	ListMoves(ctx context.Context, filter string, size int, after *mapping.MovePosition) (*MovesPage, error)
	Reallocate(ctx context.Context, o RoundOptions) (*Round, error)

	ListSites(ctx context.Context, filter string, size int, from string, accuracy bool) (_ []Site, next string,
		err error)
	GetSite(ctx context.Context, name string) (*Site, error)
	ListServices(filter string, size int, from string) (services []OfferedService, next string, err error)
	SetDraining(ctx context.Context, site string, draining bool) (Status, error)
	ForgetSite(site string) error
	SettleJob(ctx context.Context, site string, s Settlement) (Job, error)

	FindData(ctx context.Context, id string) ([]LocatedData, []Absent, error)
	ListData(ctx context.Context, filter string, size int, from DataPosition) (*DataPage, error)
	RemoveData(ctx context.Context, id string) (sites []string, err error)

	OfferReservation(ctx context.Context, b Booking, site string) ([]ReservationOffer, []Absent, error)
	ListReservations(ctx context.Context, filter string) ([]Reservation, []Absent, error)
	CancelReservation(ctx context.Context, id string) (Reservation, error)
}

// Decision is where a request goes, and why.
type Decision struct {
	MadeAt  time.Time
	Chosen  string   // site, "" for none
	Targets []Target // where to submit, best first
	// Candidates are the ranked ones, best first, then those without an estimate, by
	// name.
	Candidates []Candidate
}

// Candidate is one site in a decision.
type Candidate struct {
	mapping.Candidate
	Problem *problem.Problem // why it has no estimate
}

// JobsPosition is where a page of jobs begins. The zero JobsPosition is the beginning.
type JobsPosition struct {
	Site  string `json:"f"`
	Inner string `json:"i,omitempty"` // page token of that site's server
	// Remembered is set, and Inner is not, when that site did not answer: the last job
	// that was listed from memory.
	Remembered *mapping.Cursor `json:"r,omitempty"`
}

// JobsPage is one page of jobs.
type JobsPage struct {
	Jobs    []Job
	Missing []Absent
	Next    *JobsPosition // nil for the last page
}

// MovesPage is one page of moves, the latest first.
type MovesPage struct {
	Moves   []Move
	Missing []Absent
	Next    *mapping.MovePosition // nil for the last page
}

// RoundOptions are what a client wants of a round of reallocation. Empty and nil
// fields stand for the agent's configuration.
type RoundOptions struct {
	DryRun                              bool
	Algorithm, Heuristic, Window        string
	Threshold, LeastGain                *time.Duration
	MostMoves, MostMovesRound, Patience *int // Patience -1 is off
}

// Round is what a round of reallocation did.
type Round struct {
	ID      string // a UUIDv7
	Began   time.Time
	DryRun  bool
	Config  reallocation.Config
	Sites   int // that took part
	Record  reallocation.Record
	Jobs    []RoundJob
	Missing []Absent // sites that were left out, by name
	// Asking is the time spent waiting for sites, Thinking the time of the heuristic,
	// and Took that of the round with its orders.
	Asking, Thinking, Took time.Duration
}

// RoundJob is one job of a round, and what became of its order.
type RoundJob struct {
	rounds.Choice
	ID, Service      string
	FromSite, ToSite string
	Old              batch.Shape // before the round
	Ordered          bool
	Problem          *problem.Problem // why it was not ordered
}

// Site is what the agent knows of a site.
type Site struct {
	*mapping.Site
	Peer     *Peer
	Status   Status         // as of now, if the site has answered
	Details  *SiteDetails   // if they were asked for and the site has answered
	HeardAgo batch.Duration // when the site last answered; 0 for now
	Absent   Absent
}

// OfferedService is a service, the sites that offer it, and why others do not offer it now.
type OfferedService struct {
	Service
	Sites     []string
	Withdrawn map[string]string // reasons by site
}

// LocatedData is data at one site.
type LocatedData struct {
	Data
	Target
}

// DataPosition is where a page of data begins.
type DataPosition struct {
	Site  string `json:"f"`
	Inner string `json:"i,omitempty"` // page token of that site's server
}

// DataPage is one page of data.
type DataPage struct {
	Data    []LocatedData
	Missing []Absent
	Next    *DataPosition // nil for the last page
}

// ReservationOffer is a reservation that a site offers.
type ReservationOffer struct {
	Target
	Reservation
}

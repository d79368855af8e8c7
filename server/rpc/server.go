package rpc

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Server is what the handlers need of a server. Methods that change something
// return after the change is durable. Every error can be passed to Problem.
type Server interface {
	// About describes the site. It does not change while the server runs.
	About() About
	// Known returns the servers that the site knows of.
	Known() []gossip.Known
	// Services returns the catalogue, in its order.
	Services() []*catalogue.Service
	// Now returns the current time of the site.
	Now() batch.Time
	// Peer returns the URL of another site's server. Field names the request field that holds the
	// site's name, for the error.
	Peer(field, name string) (url string, err error)
	// CheckPeerName refuses an invalid site name and the name of this site.
	CheckPeerName(field, name string) error
	// Problem returns the public form of an error. It returns nil for an internal error, because its text
	// belongs in the log only.
	Problem(err error) *problem.Problem

	Jobs
	Moves
	Drafts
	Reservations
	Figures
	Files
}

// Jobs is the part of Server about single jobs. Each returned job has its dossier.
type Jobs interface {
	Estimate(ctx context.Context, r *site.Request, notBefore batch.Duration) (Estimate, error)
	Submit(ctx context.Context, sub site.Submission) (site.Job, error)
	Job(ctx context.Context, id string) (site.Job, error)
	// Jobs passes a page of jobs to take, which returns false for a job that no longer fits into
	// the page. Brief jobs have no dossier.
	Jobs(ctx context.Context, f site.Filter, token string, limit int, brief bool,
		take func(*site.Job) bool) (next string,
		err error)
	// WatchJob sends a job now and after every change, until it is final.
	WatchJob(ctx context.Context, id string, send func(*site.Job) error) error
	Cancel(ctx context.Context, id string) (site.Job, error)
	// Measured returns the measured needs of a job's tasks, false if there are none.
	Measured(j *site.Job) (site.Measured, bool)
	// NodesAway returns the names of the nodes that do not answer.
	NodesAway() []string
}

// Moves is the part of Server about jobs that change sites.
type Moves interface {
	Withdraw(ctx context.Context, id string) (withdrawn bool, j site.Job, err error)
	Move(ctx context.Context, o site.MoveRequest) (site.Job, error)
	Settle(ctx context.Context, id string, epoch uint32, as site.Settlement, reason string) (site.Job, error)
	Hold(ctx context.Context, round string, lease batch.Duration, ids []batch.JobID) ([]site.Job, error)
	Place(ctx context.Context, round, agent string, list []site.Placement) ([]site.Job, error)
	Moves(ctx context.Context, f site.MoveFilter, after site.MoveCursor, limit int) ([]site.JobMove, error)
	// WatchJobs sends all jobs that are not final, then synced, then every job that
	// changes.
	WatchJobs(ctx context.Context, send func(jobs []site.Job, synced bool) error) error
	// Reserve handles a Reserve message of another server, Receive the other kinds.
	Reserve(ctx context.Context, m *site.Message) (site.Message, error)
	Receive(ctx context.Context, m *site.Message) (site.Message, error)
	// SendInput sends an input file of a job to another server.
	SendInput(ctx context.Context, id, argument string, offset int64, send func(files.Piece) error) error
}

// Drafts is the part of Server about the drafts of reallocation rounds.
type Drafts interface {
	Draft(ctx context.Context, c *DraftCall) (DraftAnswers, error)
}

// Reservations is the part of Server about advance reservations.
type Reservations interface {
	OfferReservation(ctx context.Context, b site.Booking) (site.Reservation, error)
	BookReservation(ctx context.Context, b site.Booking) (site.Reservation, error)
	Reservations(ctx context.Context, f site.ReservationFilter) ([]site.Reservation, error)
	CancelReservation(ctx context.Context, id string) (site.Reservation, error)
}

// Figures is the part of Server about the site as a whole.
type Figures interface {
	Status(ctx context.Context) (Status, error)
	Accuracy(ctx context.Context) ([]site.Accuracy, error)
	SetDraining(ctx context.Context, on bool) error
	// PolicyReport returns the policy's report, false if it has none.
	PolicyReport(ctx context.Context) (r policy.Report, ok bool, err error)
	// WatchUsage sends the resource usage of jobs, once per interval, until ctx ends.
	WatchUsage(ctx context.Context, interval time.Duration, send func(*Usage) error) error
}

// Files is the part of Server about content, data under handles, outputs and logs.
// The caller closes the files that it gets.
type Files interface {
	ContentProgress(sha256 string, size int64) (blobs.Progress, error)
	Upload(r io.Reader, want blobs.Want) (blobs.Blob, error)
	ReadLogs(ctx context.Context, want files.Logs, send func(files.Piece) error) error
	// OpenOutput opens an output of a job and returns its SHA-256, "" if unknown.
	OpenOutput(j *site.Job, argument string) (f *os.File, sha256 string, err error)
	// OpenStream opens stdout or stderr of a job, nil if there is none yet.
	OpenStream(id batch.JobID, stream string) (*os.File, error)
	OpenData(id string) (*os.File, depot.Data, error)

	PutData(d depot.Data) (depot.Data, error)
	GetData(ids []string) (here []depot.Data, gone []*depot.GoneError, err error)
	// CopyData fetches data from another site and reports the progress.
	CopyData(ctx context.Context, id, from string, report func(have, size int64) error) (depot.Data, error)
	ListData(filter, after string, limit int) (page []depot.Data, more bool, err error)
	// RemoveData removes data and returns them, nil if there are none.
	RemoveData(id string) (*depot.Data, error)
	// DescribeGone explains why data that were here are gone.
	DescribeGone(g *depot.GoneError) string
}

// About is a site's description of itself.
type About struct {
	Name, URL    string
	API          int32 // version of drover.v1
	Capabilities []string
	Policy       string
	Speed        float64 // of a processor; 1 for the reference
	Platform     batch.Platform
	Width        int32          // of the widest job, processors
	Walltime     batch.Duration // of the longest job
	FileBytes    int64          // of the largest upload
}

// Estimate is the answer to an estimate request.
type Estimate struct {
	site.Quote
	Age      batch.Duration // of the state that it is based on
	Accuracy *site.Accuracy // of earlier estimates for the service; nil if unknown
	// Refusal says why the site would not accept the request; nil if it would.
	Refusal *problem.Problem
}

// Status is a site's queue and load.
type Status struct {
	Load       site.Load
	Agreements site.Agreements
	Data       depot.Usage
	Draining   bool
	Degraded   bool // the disk is full
	// LaunchProblem is why programs cannot be launched at the moment; empty if they can.
	LaunchProblem string
	// ClockOffset is how far the host's clock is ahead of the site's; 0 below 2 s.
	ClockOffset time.Duration
	// ServiceProblems are the services whose programs cannot be executed, or whose jobs fail at once.
	ServiceProblems []site.ServiceProblem
	Commits         int64
	Syncs           int64
}

// DraftCall is one call of a reallocation round on its draft.
type DraftCall struct {
	Round      string
	Begin, End bool
	Lease      batch.Duration // 0: the server's default
	Edits      []DraftItem
	Questions  []DraftItem
}

// DraftItem is an edit of a draft or a question about it.
type DraftItem struct {
	Job       batch.JobID
	Request   *site.Request // nil: the job in the draft
	NotBefore batch.Duration
	Invalid   error // the error of an invalid request; becomes the answer
}

// DraftAnswers has one answer for each edit and each question of a call.
type DraftAnswers struct {
	Edits, Questions []site.Answer
	Age              batch.Duration // of the draft
}

// Usage is the allocation and resource use of nodes and jobs at one instant.
type Usage struct {
	At      time.Time
	Nodes   []NodeUsage
	Jobs    []JobUsage
	Waiting int // jobs
}

// NodeUsage is a node's resources and their allocation.
type NodeUsage struct {
	Name       string
	Processors int32
	Memory     int64   // bytes
	Allocated  float64 // processors
	Tasks      int32
	Away       string // the reason why it does not answer; "" if it does
}

// JobUsage is the allocation and resource use of a running job. CPU figures are shares of one
// processor per task, except for CPURate.
type JobUsage struct {
	Job        site.Job
	Paused     bool
	Nodes      []string
	Tasks      int32
	Share      batch.Share // allocated
	Declared   batch.Share
	Need       batch.Share // as measured; 0 if unknown
	Yield      float64     // the part of its need that a task gets
	CPURate    float64     // processors used by the job
	Memory     int64       // bytes used by the job
	PeakMemory int64       // bytes used at most by one task
	CPUTime    time.Duration
	MeasuredAt time.Time // zero if nothing was measured
}

package rpc

import (
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// The sizes of a page of a list, in entries.
const (
	DefaultPage = rpc.DefaultPage
	LargestPage = rpc.LargestPage
)

// LargestMessage is the size in bytes from which a page of a list is full.
const LargestMessage = rpc.LargestMessage

// Request is what a client wants to run.
type Request struct{ m *droverv1.Request }

// NewRequest returns a request of the wire.
func NewRequest(m *droverv1.Request) Request { return Request{m} }

// Service returns the name of the service.
func (r Request) Service() string { return r.m.GetService() }

// OnlySite returns the only site that may run the request, "" for any.
func (r Request) OnlySite() string { return r.m.GetSite() }

// InputSite returns where the input lies, "" for the client's machine.
func (r Request) InputSite() string { return r.m.GetInputSite() }

// HasAgreement reports whether the request asks for an agreement.
func (r Request) HasAgreement() bool { return r.m.GetAgreement() != nil }

// InputBytes returns how much has to travel to the site that runs the request, in
// bytes. stored reports whether data that the request names by handles count.
func (r Request) InputBytes(stored bool) int64 {
	if r.m.GetInputBytes() > 0 {
		return r.m.GetInputBytes()
	}
	var sum int64
	for _, v := range r.m.GetArguments() {
		if contentOf(v).GetDataId() != "" && !stored {
			continue
		}
		size := sizeOf(v)
		if size > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += size
	}
	return sum
}

// Handles returns the handles of data that the request uses, each with the first
// field that names it.
func (r Request) Handles() map[string]string {
	fields := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(r.m.GetArguments())) {
		if id := contentOf(r.m.GetArguments()[name]).GetDataId(); id != "" && fields[id] == "" {
			fields[id] = "request.arguments." + name
		}
	}
	return fields
}

// WithData returns the request with the checksums and sizes of the data that it
// names by handles, for sites that do not have them.
func (r Request) WithData(known []Data) Request {
	m := proto.CloneOf(r.m)
	for _, v := range m.GetArguments() {
		f := contentOf(v)
		for _, d := range known {
			if f.GetDataId() != d.ID() {
				continue
			}
			if f.GetSha256() == "" {
				f.Sha256 = d.SHA256()
			}
			if f.GetSizeBytes() == 0 {
				f.SizeBytes = d.Bytes()
			}
		}
	}
	return Request{m}
}

// AppendKind appends a text that is the same for all requests that every site
// answers alike. A field that is not excluded here makes a difference, so a new
// field is safe. ok is false for a request that cannot be encoded.
func (r Request) AppendKind(text []byte) (_ []byte, ok bool) {
	if r.m == nil {
		return text, false
	}
	m := proto.CloneOf(r.m)
	m.Labels, m.RetryOf, m.Idempotent = nil, "", false
	for _, v := range m.GetArguments() {
		if f := contentOf(v); f != nil { // performance models and links use only the size of files and blocks
			f.Sha256, f.Name = "", ""
		}
	}
	text, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(text, m)
	return text, err == nil
}

// contentOf returns the content of a file, a vector or a matrix; nil for another
// value.
func contentOf(v *droverv1.Value) *droverv1.File {
	if a := v.GetArrayValue(); a != nil {
		return a.GetContent()
	}
	return v.GetFileValue()
}

// elementBytes are the sizes of array elements.
var elementBytes = map[droverv1.ElementType]int64{
	droverv1.ElementType_ELEMENT_TYPE_FLOAT64: 8, droverv1.ElementType_ELEMENT_TYPE_FLOAT32: 4,
	droverv1.ElementType_ELEMENT_TYPE_INT64: 8, droverv1.ElementType_ELEMENT_TYPE_INT32: 4,
	droverv1.ElementType_ELEMENT_TYPE_UINT8: 1, droverv1.ElementType_ELEMENT_TYPE_COMPLEX128: 16,
}

// sizeOf returns the bytes of a value's content. An array without content has the
// bytes that its dimensions need; servers check whether the dimensions are allowed.
func sizeOf(v *droverv1.Value) int64 {
	a := v.GetArrayValue()
	if size := contentOf(v).GetSizeBytes(); size != 0 || a == nil {
		return size
	}
	size := elementBytes[a.GetElement()]
	for _, d := range a.GetDimensions() {
		switch {
		case d <= 0:
			return 0
		case size > math.MaxInt64/d:
			return math.MaxInt64
		}
		size *= d
	}
	return size
}

// Job is a job as a server describes it.
type Job struct{ m *droverv1.Job }

// ID returns the job's ID.
func (j Job) ID() string { return j.m.GetId() }

// State returns where the job is in its life.
func (j Job) State() mapping.State { return statesIn[j.m.GetState()] }

// Epoch returns how often the job has changed sites or been held.
func (j Job) Epoch() uint32 { return j.m.GetEpoch() }

// MovedTo returns the site that a job which is gone went to.
func (j Job) MovedTo() string { return j.m.GetMovedTo() }

// Request returns what the job runs.
func (j Job) Request() Request { return Request{j.m.GetRequest()} }

// Shape returns the shape that the job has now.
func (j Job) Shape() batch.Shape { return shapeIn(j.m.GetShape()) }

// Submitted returns when the job was submitted, in microseconds since 1970.
func (j Job) Submitted() int64 { return rpc.MicrosOf(j.m.GetSubmittedAt()) }

// Silent reports whether the job is at a site that does not answer.
func (j Job) Silent() bool { return j.m.GetUnknownFor() != nil }

// Stays reports whether the job cannot move: it has an agreement, or is in a
// reservation.
func (j Job) Stays() bool {
	return j.m.GetAgreement() != droverv1.AgreementState_AGREEMENT_STATE_UNSPECIFIED || j.m.GetRequest().GetInto() != ""
}

// Moves returns how often the job has changed sites.
func (j Job) Moves() int {
	n := 0
	for _, m := range j.m.GetMoves() {
		if m.GetState() == droverv1.MoveState_MOVE_STATE_MOVED {
			n++
		}
	}
	return n
}

// Bytes returns the size of the job on the wire.
func (j Job) Bytes() int { return proto.Size(j.m) }

// RememberedJob returns what an agent remembers of a job at a site. unknownFor is how
// long the site has been silent; nil if it answers.
func RememberedJob(site string, d *mapping.Digest, unknownFor *batch.Duration) Job {
	m := &droverv1.Job{
		Id: d.ID, State: stateOut(d.State), Site: site, Epoch: d.Epoch, MovedTo: d.To,
		Request:     &droverv1.Request{Service: d.Service, Owner: d.Owner},
		Shape:       rpc.Shape(d.Shape),
		SubmittedAt: rpc.Timestamp(d.Submitted),
	}
	if unknownFor != nil {
		m.UnknownFor = rpc.Duration(*unknownFor)
	}
	if d.Started != 0 {
		m.StartedAt = rpc.Timestamp(d.Started)
	}
	return Job{m}
}

// Incoming returns a job that has gone from one site to another that has been silent
// for some time: at least it is on its way there.
func (j Job) Incoming(from, to string, unknownFor batch.Duration) Job {
	m := proto.CloneOf(j.m)
	m.State = droverv1.JobState_JOB_STATE_INCOMING
	m.Site, m.Peer, m.MovedTo = to, from, ""
	m.UnknownFor = rpc.Duration(unknownFor)
	return Job{m}
}

// Status is a site's queue, and how its estimates were kept.
type Status struct{ m *droverv1.SiteStatus }

// Load returns the site's queue.
func (s Status) Load() mapping.Load {
	load := mapping.Load{
		Running: s.m.GetRunning(), Waiting: s.m.GetWaiting(), Busy: s.m.GetProcessorsBusy(),
		Draining: s.m.GetDraining(),
	}
	for _, p := range s.m.GetServiceProblems() {
		if p.GetWithdrawnFor() != nil {
			load.Withdrawn = append(load.Withdrawn, mapping.Withdrawal{Service: p.GetService(), Reason: p.GetReason()})
		}
	}
	return load
}

// SiteDetails is what a site says about itself when it is asked: its queue, its
// policy, and what its nodes can do.
type SiteDetails struct {
	Status Status
	m      *droverv1.GetSiteResponse
}

// Data is data that stay at a site under a handle.
type Data struct{ m *droverv1.Data }

// ID returns the handle.
func (d Data) ID() string { return d.m.GetId() }

// SHA256 returns the checksum of the content, in hex.
func (d Data) SHA256() string { return d.m.GetContent().GetSha256() }

// Bytes returns the size of the content, 0 or more.
func (d Data) Bytes() int64 { return max(d.m.GetContent().GetSizeBytes(), 0) }

// Sticky reports whether the data must not leave their site.
func (d Data) Sticky() bool { return d.m.GetMode() == droverv1.DataMode_DATA_MODE_STICKY }

// Copy reports whether this is a copy of data that were put at another site.
func (d Data) Copy() bool { return d.m.GetCopy() }

// Exists reports whether there are such data.
func (d Data) Exists() bool { return d.m != nil }

// Move is one site's record of a move.
type Move struct{ m *droverv1.Move }

var moveStates = map[droverv1.MoveState]string{
	droverv1.MoveState_MOVE_STATE_PENDING: "pending",
	droverv1.MoveState_MOVE_STATE_MOVED:   "moved",
	droverv1.MoveState_MOVE_STATE_ABORTED: "aborted",
}

// MoveStates are the states of moves, as filters name them.
func MoveStates() []string { return []string{"pending", "moved", "aborted"} }

// State returns one of MoveStates, "" for a state that this agent does not know.
func (m Move) State() string { return moveStates[m.m.GetState()] }

// From returns the site that the job left.
func (m Move) From() string { return m.m.GetFrom() }

// To returns the site that the job went to.
func (m Move) To() string { return m.m.GetTo() }

// Report returns the move as a site reports it.
func (m Move) Report(site string, index int32) mapping.MoveReport {
	return mapping.MoveReport{
		Reporter: site, Job: m.m.GetJobId(), Epoch: m.m.GetEpoch(), From: m.m.GetFrom(),
		Ordered:  rpc.MicrosOf(m.m.GetOrderedAt()),
		Settled:  m.State() == "moved" || m.State() == "aborted",
		Realized: m.m.GetRealizedGain() != nil, Index: index,
	}
}

// OrderedAt returns the move with another time of its order, in microseconds since
// 1970.
func (m Move) OrderedAt(us int64) Move {
	if rpc.MicrosOf(m.m.GetOrderedAt()) == us {
		return m
	}
	c := proto.CloneOf(m.m)
	c.OrderedAt = rpc.Timestamp(us)
	return Move{c}
}

// Booking is a reservation that a client asks for.
type Booking struct{ m *droverv1.Booking }

// Reservation is one of a site's reservations.
type Reservation struct{ m *droverv1.Reservation }

// Start returns when the reservation begins.
func (r Reservation) Start() time.Time { return r.m.GetStart().AsTime() }

// Settlement is an operator's decision about a move that cannot end by itself.
type Settlement struct{ m *droverv1.SettleJobRequest }

// JobID returns the job of the move.
func (s Settlement) JobID() string { return s.m.GetJobId() }

// LogFields returns what to log about the settlement: keys and values in turn.
func (s Settlement) LogFields() []any {
	return []any{
		"job", s.m.GetJobId(), "epoch", s.m.GetEpoch(), "settlement", s.m.GetSettlement(), "reason", s.m.GetReason(),
	}
}

// Service is a service that a site offers.
type Service struct{ m *droverv1.Service }

// Name returns the service's name.
func (s Service) Name() string { return s.m.GetName() }

// durationIn checks a duration that a client may leave out; nil for none.
func durationIn(field string, d *durationpb.Duration, accepted string) (*batch.Duration, error) {
	if d == nil {
		return nil, nil
	}
	if d.CheckValid() != nil {
		return nil, &problem.Problem{Reason: problem.OutOfRange, Field: field, Message: d.String(), Accepted: accepted}
	}
	us := batch.Duration(rpc.Micros(d))
	return &us, nil
}

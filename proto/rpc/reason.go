package rpc

import "connectrpc.com/connect"

// Reason is the stable word of a problem, one of those that ErrorDetail lists.
type Reason string

// The reasons that agent and server give or branch on themselves. The others, of the table
// below, are those of the server's core.
const (
	BadValue       Reason = "bad-value"
	OutOfRange     Reason = "out-of-range"
	UnknownService Reason = "unknown-service"
	UnknownJob     Reason = "unknown-job"
	UnknownContent Reason = "unknown-content"
	UnknownOutput  Reason = "unknown-output"
	TooLarge       Reason = "too-large"
	QueueFull      Reason = "queue-full"
	NoSite         Reason = "no-site"
	UnknownSite    Reason = "unknown-site"
	NotWaiting     Reason = "not-waiting"
	NotMovable     Reason = "not-movable"
	StaleEpoch     Reason = "stale-epoch"
	Draining       Reason = "draining"
	DiskFull       Reason = "disk-full"
	Arriving       Reason = "arriving"
	NoCandidate    Reason = "no-candidate"
	NoEstimate     Reason = "no-estimate"
	Unreachable    Reason = "unreachable"
	TimedOut       Reason = "timeout"
	BatchSilent    Reason = "batch-silent"
	Stopping       Reason = "stopping"
	UnknownRound   Reason = "unknown-round"
	TooManyDrafts  Reason = "too-many-drafts"
	NoDrafts       Reason = "no-drafts"
	Internal       Reason = "internal"

	WrongDimensions Reason = "wrong-dimensions"

	UnknownData  Reason = "unknown-data"
	DataConflict Reason = "data-conflict"
	StickyData   Reason = "sticky-data"
	DataQuota    Reason = "data-quota"

	NoOffer            Reason = "no-offer"
	NoPromise          Reason = "no-promise"
	NoRoom             Reason = "no-room"
	NoReservations     Reason = "no-reservations"
	UnknownReservation Reason = "unknown-reservation"
	ReservationOver    Reason = "reservation-over"
)

// codes maps the reasons of ErrorDetail to Connect codes.
var codes = map[Reason]connect.Code{
	BadValue:           connect.CodeInvalidArgument,
	OutOfRange:         connect.CodeInvalidArgument,
	"unknown-argument": connect.CodeInvalidArgument,
	"missing-argument": connect.CodeInvalidArgument,
	"wrong-type":       connect.CodeInvalidArgument,
	TooLarge:           connect.CodeInvalidArgument,
	WrongDimensions:    connect.CodeInvalidArgument,
	UnknownData:        connect.CodeNotFound,
	DataConflict:       connect.CodeAlreadyExists,
	StickyData:         connect.CodeFailedPrecondition,
	DataQuota:          connect.CodeResourceExhausted,
	"too-wide":         connect.CodeFailedPrecondition,
	"too-long":         connect.CodeFailedPrecondition,
	"too-late":         connect.CodeFailedPrecondition,
	"no-memory":        connect.CodeFailedPrecondition,
	"no-licence":       connect.CodeFailedPrecondition,
	"cannot-run":       connect.CodeFailedPrecondition,
	"stale-id":         connect.CodeFailedPrecondition,
	"job-conflict":     connect.CodeAlreadyExists,
	QueueFull:          connect.CodeResourceExhausted,
	UnknownService:     connect.CodeNotFound,
	UnknownJob:         connect.CodeNotFound,
	UnknownContent:     connect.CodeNotFound,
	UnknownOutput:      connect.CodeNotFound,
	UnknownSite:        connect.CodeNotFound,
	NotWaiting:         connect.CodeFailedPrecondition,
	NotMovable:         connect.CodeFailedPrecondition,
	StaleEpoch:         connect.CodeFailedPrecondition,
	"withdrawn":        connect.CodeFailedPrecondition,
	Draining:           connect.CodeUnavailable,
	DiskFull:           connect.CodeResourceExhausted,
	Arriving:           connect.CodeAborted,
	NoSite:             connect.CodeUnavailable,
	NoCandidate:        connect.CodeUnavailable,
	Unreachable:        connect.CodeUnavailable,
	BatchSilent:        connect.CodeUnavailable,
	Stopping:           connect.CodeUnavailable,
	TimedOut:           connect.CodeDeadlineExceeded,
	UnknownRound:       connect.CodeNotFound,
	TooManyDrafts:      connect.CodeResourceExhausted,
	NoDrafts:           connect.CodeUnimplemented,
	NoOffer:            connect.CodeFailedPrecondition,
	NoPromise:          connect.CodeFailedPrecondition,
	NoRoom:             connect.CodeFailedPrecondition,
	NoReservations:     connect.CodeUnimplemented,
	UnknownReservation: connect.CodeNotFound,
	ReservationOver:    connect.CodeFailedPrecondition,

	"too-many-reservations": connect.CodeResourceExhausted,
	"dependency-failed":     connect.CodeFailedPrecondition,

	NoEstimate: connect.CodeInternal,
	Internal:   connect.CodeInternal,
}

// Code returns the Connect code of a reason, CodeUnknown for an unknown one.
func Code(r Reason) connect.Code {
	if code, ok := codes[r]; ok {
		return code
	}
	return connect.CodeUnknown
}

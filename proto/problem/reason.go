package problem

import (
	"maps"
	"slices"
)

// Reason is the stable word of a problem, which programs branch on. Readers must
// accept words that they do not know.
type Reason string

// The reasons, by class.
const (
	BadValue        Reason = "bad-value"
	OutOfRange      Reason = "out-of-range"
	UnknownArgument Reason = "unknown-argument"
	MissingArgument Reason = "missing-argument"
	WrongType       Reason = "wrong-type"
	TooLarge        Reason = "too-large"
	WrongDimensions Reason = "wrong-dimensions"

	UnknownService     Reason = "unknown-service"
	UnknownJob         Reason = "unknown-job"
	UnknownContent     Reason = "unknown-content"
	UnknownOutput      Reason = "unknown-output"
	UnknownSite        Reason = "unknown-site"
	UnknownRound       Reason = "unknown-round"
	UnknownData        Reason = "unknown-data"
	UnknownReservation Reason = "unknown-reservation"

	JobConflict  Reason = "job-conflict"
	DataConflict Reason = "data-conflict"

	TooWide          Reason = "too-wide"
	TooLong          Reason = "too-long"
	TooLate          Reason = "too-late"
	NoMemory         Reason = "no-memory"
	NoLicense        Reason = "no-license"
	CannotRun        Reason = "cannot-run"
	StaleID          Reason = "stale-id"
	NotWaiting       Reason = "not-waiting"
	NotMovable       Reason = "not-movable"
	SiteAnswers      Reason = "site-answers"
	StaleEpoch       Reason = "stale-epoch"
	Withdrawn        Reason = "withdrawn"
	StickyData       Reason = "sticky-data"
	NoOffer          Reason = "no-offer"   // no site can keep the deadline of an agreement
	NoPromise        Reason = "no-promise" // no site makes promises: their policies only forecast
	NoRoom           Reason = "no-room"
	ReservationOver  Reason = "reservation-over"
	DependencyFailed Reason = "dependency-failed"

	QueueFull           Reason = "queue-full"
	DiskFull            Reason = "disk-full"
	DataQuota           Reason = "data-quota"
	TooManyDrafts       Reason = "too-many-drafts"
	TooManyReservations Reason = "too-many-reservations"

	Arriving Reason = "arriving" // the job is on its way to this site

	Draining Reason = "draining"
	// a service that the site cannot launch now
	ServiceWithdrawn Reason = "service-withdrawn"
	NoSite           Reason = "no-site"
	NoCandidate      Reason = "no-candidate" // no site could give an estimate
	Unreachable      Reason = "unreachable"
	BatchSilent      Reason = "batch-silent" // the site's batch system does not answer
	Stopping         Reason = "stopping"

	Timeout Reason = "timeout"

	NoDrafts       Reason = "no-drafts"
	NoReservations Reason = "no-reservations"

	NoEstimate Reason = "no-estimate"
	Internal   Reason = "internal" // a defect: the log of the process says more
)

// The reasons that only clients give.
const (
	// a server has recorded a cancel, but cannot say its result: the job is moving
	Recorded      Reason = "recorded"
	NotIdempotent Reason = "not-idempotent" // a new attempt is needed, but the request does not allow two executions
	Ambiguous     Reason = "ambiguous"      // the beginning of an ID fits several
	Unknown       Reason = "unknown"        // no answer came to a message, which may have taken effect
)

// Class groups reasons by what a caller can do about them. It decides the Connect
// code, and with it the HTTP status (proto/rpc).
type Class uint8

// The classes.
const (
	Invalid       Class = iota + 1 // the request itself is wrong
	NotFound                       // what it names does not exist
	Conflict                       // another one exists under the same name
	Precondition                   // it does not fit the state of the job or the site
	Exhausted                      // a limit is reached
	Aborted                        // it met another operation under way
	Unavailable                    // a process or a site cannot answer now
	TimedOut                       // an answer did not come in time
	Unimplemented                  // this site cannot do it
	Defect                         // an error of Drover itself
)

var classes = map[Reason]Class{
	BadValue:            Invalid,
	OutOfRange:          Invalid,
	UnknownArgument:     Invalid,
	MissingArgument:     Invalid,
	WrongType:           Invalid,
	TooLarge:            Invalid,
	WrongDimensions:     Invalid,
	UnknownService:      NotFound,
	UnknownJob:          NotFound,
	UnknownContent:      NotFound,
	UnknownOutput:       NotFound,
	UnknownSite:         NotFound,
	UnknownRound:        NotFound,
	UnknownData:         NotFound,
	UnknownReservation:  NotFound,
	JobConflict:         Conflict,
	DataConflict:        Conflict,
	TooWide:             Precondition,
	TooLong:             Precondition,
	TooLate:             Precondition,
	NoMemory:            Precondition,
	NoLicense:           Precondition,
	CannotRun:           Precondition,
	StaleID:             Precondition,
	NotWaiting:          Precondition,
	NotMovable:          Precondition,
	SiteAnswers:         Precondition,
	StaleEpoch:          Precondition,
	Withdrawn:           Precondition,
	StickyData:          Precondition,
	NoOffer:             Precondition,
	NoPromise:           Precondition,
	NoRoom:              Precondition,
	ReservationOver:     Precondition,
	DependencyFailed:    Precondition,
	QueueFull:           Exhausted,
	DiskFull:            Exhausted,
	DataQuota:           Exhausted,
	TooManyDrafts:       Exhausted,
	TooManyReservations: Exhausted,
	Arriving:            Aborted,
	Draining:            Unavailable,
	ServiceWithdrawn:    Unavailable,
	NoSite:              Unavailable,
	NoCandidate:         Unavailable,
	Unreachable:         Unavailable,
	BatchSilent:         Unavailable,
	Stopping:            Unavailable,
	Timeout:             TimedOut,
	NoDrafts:            Unimplemented,
	NoReservations:      Unimplemented,
	NoEstimate:          Defect,
	Internal:            Defect,
	Recorded:            Unavailable,
	NotIdempotent:       Precondition,
	Ambiguous:           Invalid,
	Unknown:             Unavailable,
}

// Class returns the class of a reason, 0 for a word that this program does not
// know.
func (r Reason) Class() Class { return classes[r] }

// ByClient reports whether only clients give the reason: no message of a server or
// agent has it.
func (r Reason) ByClient() bool {
	return r == Recorded || r == NotIdempotent || r == Ambiguous || r == Unknown
}

// Reasons returns all known reasons in alphabetical order.
func Reasons() []Reason { return slices.Sorted(maps.Keys(classes)) }

package rpc

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Limits of requests.
const (
	MaxWord       = 255     // of an owner, a site or a round, bytes
	MaxText       = 4 << 10 // of a reason, bytes
	MaxProcessors = 1 << 26 // of a job
	MaxWalltime   = 87_660 * time.Hour
	MinLease      = time.Second
	MaxLease      = time.Hour
	MaxLicenses   = 1000 // of a request
	MaxMoves      = 64   // in the history of a job that moves here
	MaxRetries    = 100  // of a job
)

// rules has every rule about one field of a request of drover.v1: this is the only
// place where such a rule is written. Serve applies the table to each message that it
// receives. Rules that need more than the field (the service, the machine, another
// field) are the site's.
//
// A key names the message and the field as the .proto does. A rule of a map applies to
// each of its values.
var rules = map[string]rule{
	"SubmitRequest.request":      required("a request"),
	"EstimateRequest.request":    required("a request"),
	"EstimateRequest.not_before": nonNegative(),
	"MapRequest.request":         required("a request"),
	"MapRequest.deadline":        positive(),

	"Request.service":        nonempty("the name of a service"),
	"Request.owner":          word(),
	"Request.input_site":     word(),
	"Request.retry_of":       word(),
	"Request.into":           word(),
	"Request.site":           word(),
	"Request.width":          between(0, MaxProcessors, widthRange),
	"Request.walltime":       walltime(),
	"Request.deadline":       instant(),
	"Request.earliest_start": instant(),
	"Request.cpu":            share("above 0 and up to 1, 0 for 1"),
	"Request.memory_bytes":   atLeast(0, "0 (the service's need) or more"),
	"Request.input_bytes":    atLeast(0, "0 or more"),
	"Request.arguments":      content("0 bytes or more"),
	"Request.licenses":       count(MaxLicenses),
	"Request.retries":        between(0, MaxRetries, fmt.Sprintf("0..%d", MaxRetries)),
	"Shape.walltime":         nonNegative(),
	"License.name":           word(),

	"OfferReservationRequest.booking": required("a booking"),
	"BookReservationRequest.booking":  required("a booking"),
	"Booking.duration":                nonNegative(),
	"Booking.from":                    instant(),
	"Booking.until":                   instant(),

	"MoveJobRequest.reason":    text(),
	"MoveJobRequest.agent":     word(),
	"SettleJobRequest.reason":  text(),
	"HoldJobsRequest.round":    word(),
	"HoldJobsRequest.lease":    nonNegative(),
	"PlaceJobsRequest.round":   word(),
	"PlaceJobsRequest.agent":   word(),
	"Placement.reason":         text(),
	"DraftRequest.round":       word(),
	"DraftEdit.not_before":     nonNegative(),
	"DraftQuestion.not_before": nonNegative(),
	"DraftRequest.lease":       lease(),

	"ReserveRequest.request":            required("a request"),
	"ReserveRequest.epoch":              atLeast(1, "1 or more"),
	"ReserveRequest.moves":              count(MaxMoves),
	"ReserveRequest.age":                nonNegative(),
	"ReserveRequest.sent_at":            instant(),
	"ReserveRequest.present_completion": nonNegative(),
	"ReserveRequest.retried":            between(0, MaxRetries, fmt.Sprintf("0..%d", MaxRetries)),
	"ReserveResponse.completion":        nonNegative(),
	// The texts of a history have been through other sites. Control characters in them
	// are replaced, not refused.
	"Move.from":        length(MaxWord),
	"Move.to":          length(MaxWord),
	"Move.agent":       length(MaxWord),
	"Move.reason":      length(MaxText),
	"Move.aborted_why": length(MaxText),
	"Move.ordered_at":  instant(),
	"Move.settled_at":  instant(),

	"GetDataRequest.ids":            count(1000),
	"ReadLogsRequest.offset":        atLeast(0, "0 or more"),
	"ReadContentRequest.offset":     atLeast(0, "0 or more"),
	"StatContentRequest.size_bytes": atLeast(0, "0 (not known) or more"),
}

var widthRange = fmt.Sprintf("1..%d, or none for the site's choice", MaxProcessors)

// CheckWidth checks a width that a user gave. On the wire 0 stands for none, so the rule of
// Request.width accepts it.
func CheckWidth(width int) error {
	if width >= 1 && width <= MaxProcessors {
		return nil
	}
	return problem.Field(problem.OutOfRange, "request.width", widthRange, "%d", width)
}

// checkedByHandler are the fields with messages that Serve does not check, because a bad one is
// answered by itself and does not refuse the call. Their handlers call Check.
var checkedByHandler = map[string]bool{
	"DraftRequest.edits":     true,
	"DraftRequest.questions": true,
}

// rule is what one field accepts: the checks that it has to pass, in this order.
type rule []limit

// limit is one check of a field. The zero value of a scalar field is checked like any
// other; a message that is missing passes, unless it is required.
type limit struct {
	reason   problem.Reason
	accepted string
	required bool
	// bad returns what is wrong with a value, "" for nothing. Nil accepts all.
	bad func(v protoreflect.Value) string
}

func required(accepted string) rule {
	return rule{{reason: problem.BadValue, accepted: accepted, required: true}}
}

func nonempty(accepted string) rule {
	empty := limit{reason: problem.BadValue, accepted: accepted, bad: func(v protoreflect.Value) string {
		if v.String() == "" {
			return "empty"
		}
		return ""
	}}
	return append(rule{empty}, word()...)
}

// word is a short printable text, text a longer one.
func word() rule { return append(length(MaxWord), printable()) }
func text() rule { return append(length(MaxText), printable()) }

// printable protects the terminals on which texts are shown.
func printable() limit {
	return limit{
		reason: problem.BadValue, accepted: "text without control characters",
		bad: func(v protoreflect.Value) string {
			if s := v.String(); strings.ContainsFunc(s, unicode.IsControl) {
				return fmt.Sprintf("%.70q", s)
			}
			return ""
		},
	}
}

func length(most int) rule {
	return rule{{
		reason: problem.OutOfRange, accepted: fmt.Sprintf("at most %d bytes", most),
		bad: func(v protoreflect.Value) string {
			if n := len(v.String()); n > most {
				return fmt.Sprintf("%d bytes", n)
			}
			return ""
		},
	}}
}

func count(most int) rule {
	return rule{{
		reason: problem.OutOfRange, accepted: fmt.Sprintf("at most %d entries", most),
		bad: func(v protoreflect.Value) string {
			if n := v.List().Len(); n > most {
				return fmt.Sprintf("%d entries", n)
			}
			return ""
		},
	}}
}

func atLeast(least int64, accepted string) rule { return between(least, 1<<63-1, accepted) }

func between(least, most int64, accepted string) rule {
	return rule{{
		reason: problem.OutOfRange, accepted: accepted,
		bad: func(v protoreflect.Value) string {
			if n := integer(v); n < least || n > most {
				return fmt.Sprint(v.Interface())
			}
			return ""
		},
	}}
}

func integer(v protoreflect.Value) int64 {
	switch n := v.Interface().(type) {
	case uint32:
		return int64(n)
	case uint64:
		return int64(min(n, 1<<63-1))
	}
	return v.Int()
}

func share(accepted string) rule {
	return rule{{
		reason: problem.OutOfRange, accepted: accepted,
		bad: func(v protoreflect.Value) string {
			if f := v.Float(); !(f >= 0 && f <= 1) {
				return fmt.Sprintf("%g", f)
			}
			return ""
		},
	}}
}

// content checks the size of a value that is a file, a vector or a matrix.
func content(accepted string) rule {
	return rule{{
		reason: problem.OutOfRange, accepted: accepted,
		bad: func(v protoreflect.Value) string {
			m := v.Message()
			file := m.Get(m.Descriptor().Fields().ByName("file_value")).Message()
			if a := m.Descriptor().Fields().ByName("array_value"); m.Has(a) {
				array := m.Get(a).Message()
				file = array.Get(array.Descriptor().Fields().ByName("content")).Message()
			}
			if n := file.Get(file.Descriptor().Fields().ByName("size_bytes")).Int(); n < 0 {
				return fmt.Sprintf("a file of %d bytes", n)
			}
			return ""
		},
	}}
}

// nonNegative accepts durations of 0s or more, positive those above 0s.
func nonNegative() rule {
	return durationRule("0s or more", func(seconds, nanos int64) bool { return seconds >= 0 && nanos >= 0 })
}

func positive() rule {
	return durationRule("above 0s, or none", func(seconds, nanos int64) bool {
		return seconds >= 0 && nanos >= 0 && seconds+nanos > 0
	})
}

func walltime() rule {
	most := int64(MaxWalltime / time.Second)
	return durationRule(fmt.Sprintf("1s..%v, or none for the site's choice", MaxWalltime),
		func(seconds, nanos int64) bool {
			return seconds >= 1 && nanos >= 0 && (seconds < most || seconds == most && nanos == 0)
		})
}

func lease() rule {
	least, most := int64(MinLease/time.Second), int64(MaxLease/time.Second)
	return durationRule(fmt.Sprintf("%v..%v, or none for the server's choice", MinLease, MaxLease),
		func(seconds, nanos int64) bool {
			return seconds >= least && nanos >= 0 && (seconds < most || seconds == most && nanos == 0)
		})
}

func durationRule(accepted string, ok func(seconds, nanos int64) bool) rule {
	return rule{{
		reason: problem.OutOfRange, accepted: accepted,
		bad: func(v protoreflect.Value) string {
			seconds, nanos := parts(v)
			if seconds > LongestDuration || nanos <= -1e9 || nanos >= 1e9 || !ok(seconds, nanos) {
				if limit := int64(math.MaxInt64 / time.Second); seconds >= limit || seconds <= -limit {
					return fmt.Sprintf("%ds", seconds)
				}
				return (time.Duration(seconds)*time.Second + time.Duration(nanos)).String()
			}
			return ""
		},
	}}
}

func instant() rule {
	const last = 253_402_300_799 // of the year 9999
	return rule{{
		reason: problem.OutOfRange, accepted: "an instant from 1970 to 9999",
		bad: func(v protoreflect.Value) string {
			if seconds, nanos := parts(v); seconds < 0 || seconds > last || nanos < 0 || nanos >= 1e9 {
				return fmt.Sprintf("%ds after 1970", seconds)
			}
			return ""
		},
	}}
}

// parts returns the fields of a Duration or a Timestamp.
func parts(v protoreflect.Value) (seconds, nanos int64) {
	m := v.Message()
	fields := m.Descriptor().Fields()
	return m.Get(fields.ByNumber(1)).Int(), m.Get(fields.ByNumber(2)).Int()
}

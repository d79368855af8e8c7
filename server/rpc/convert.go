package rpc

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// inverse swaps the keys and the values of a table.
func inverse[K, V comparable](m map[K]V) map[V]K {
	out := make(map[V]K, len(m))
	for k, v := range m {
		out[v] = k
	}
	return out
}

// durationIn returns d in microseconds, 0 for nil. It rounds up, so that a duration above 0 stays
// above 0.
func durationIn(d *durationpb.Duration) batch.Duration {
	return batch.Duration(d.GetSeconds())*batch.Second + batch.Duration(d.GetNanos()+999)/1000
}

// timeIn returns t in microseconds, 0 for nil.
func timeIn(t *timestamppb.Timestamp) batch.Time {
	if t == nil {
		return 0
	}
	return max(batch.Time(t.GetSeconds())*batch.Time(batch.Second)+batch.Time(t.GetNanos()/1000), 1)
}

// lastInstant is the last instant of a protobuf Timestamp, at the end of the year 9999.
const lastInstant batch.Time = 253_402_300_799_999_999

// timeOut returns t for the wire; nil for 0 and Never. Another site's report of a job can be out of
// range; it is clamped, because otherwise no list with that job could be sent.
func timeOut(t batch.Time) *timestamppb.Timestamp {
	if t == batch.Never || t == 0 {
		return nil
	}
	return timestamppb.New(time.UnixMicro(int64(min(max(t, 1), lastInstant))))
}

// gainOut returns a duration that can be negative for the wire, nil for nil.
func gainOut(d *batch.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return rpc.Duration(*d)
}

// gainIn is the inverse of gainOut; nil, and a loss of more than a century, mean a move at any
// price.
func gainIn(d *durationpb.Duration) batch.Duration {
	const century = 100 * 365 * 24 * 3600
	if d == nil || d.GetSeconds() <= -century {
		return site.AnyGain
	}
	s := min(d.GetSeconds(), rpc.LongestDuration)
	return batch.Duration(s)*batch.Second + batch.Duration(d.GetNanos()/1000)
}

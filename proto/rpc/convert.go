package rpc

import (
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// LongestDuration is the longest protobuf Duration, in seconds. The shortest is its
// negative.
const LongestDuration = 315_576_000_000

// Duration returns a duration in microseconds for the wire. One beyond the range of
// a protobuf Duration is cut to it.
func Duration[D ~int64](us D) *durationpb.Duration {
	const longest = LongestDuration * 1_000_000
	d := min(max(int64(us), -longest), longest)
	return &durationpb.Duration{Seconds: d / 1_000_000, Nanos: int32(d%1_000_000) * 1000}
}

// Micros returns a duration of the wire in microseconds, rounded towards 0; 0 for
// nil. One beyond the range of a protobuf Duration is cut to it.
func Micros(d *durationpb.Duration) int64 {
	s := min(max(d.GetSeconds(), -LongestDuration), LongestDuration)
	return s*1_000_000 + int64(d.GetNanos()/1000)
}

// Timestamp returns an instant in microseconds since 1970 for the wire.
func Timestamp(us int64) *timestamppb.Timestamp {
	s, rest := us/1_000_000, us%1_000_000
	if rest < 0 {
		s, rest = s-1, rest+1_000_000
	}
	return &timestamppb.Timestamp{Seconds: s, Nanos: int32(rest) * 1000}
}

// MicrosOf returns an instant of the wire in microseconds since 1970, 0 for nil.
func MicrosOf(t *timestamppb.Timestamp) int64 {
	return t.GetSeconds()*1_000_000 + int64(t.GetNanos()/1000)
}

// Shape returns a shape for the wire.
func Shape(s batch.Shape) *droverv1.Shape {
	return &droverv1.Shape{Width: s.Width, Walltime: Duration(s.Walltime)}
}

// kinds are the kinds of estimate, on the wire and in the cores.
var kinds = map[batch.Kind]droverv1.EstimateKind{
	batch.Promised: droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
	batch.Planned:  droverv1.EstimateKind_ESTIMATE_KIND_PLANNED,
	batch.Probable: droverv1.EstimateKind_ESTIMATE_KIND_PROBABLE,
	batch.Forecast: droverv1.EstimateKind_ESTIMATE_KIND_FORECAST,
}

// EstimateKind returns a kind of estimate for the wire.
func EstimateKind(k batch.Kind) droverv1.EstimateKind { return kinds[k] }

// KindOf returns the kind of an estimate of the wire, the zero Kind for one that this
// program does not know.
func KindOf(wire droverv1.EstimateKind) batch.Kind {
	for k, w := range kinds {
		if w == wire {
			return k
		}
	}
	return 0
}

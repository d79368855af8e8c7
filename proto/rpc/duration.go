package rpc

import "google.golang.org/protobuf/types/known/durationpb"

// LongestDuration is the longest time that a protobuf Duration may hold, in
// seconds.
const LongestDuration = 315_576_000_000

// Duration returns a time in microseconds, not negative, for the wire; at most the
// longest that fits.
func Duration[D ~int64](us D) *durationpb.Duration {
	if int64(us) >= LongestDuration*1_000_000 {
		return &durationpb.Duration{Seconds: LongestDuration}
	}
	return &durationpb.Duration{Seconds: int64(us) / 1_000_000, Nanos: int32(int64(us)%1_000_000) * 1000}
}

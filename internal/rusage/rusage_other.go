//go:build !linux

package rusage

import "time"

var started = time.Now()

// ProcessorTime returns the time since the start of this process: its processor time is
// unknown here.
func ProcessorTime() time.Duration { return time.Since(started) }

// PeakMemory returns 0: unknown here.
func PeakMemory() int64 { return 0 }

// PeakOf returns 0: unknown here.
func PeakOf(int) int64 { return 0 }

//go:build !linux

package main

import "time"

var started = time.Now()

// processorTime returns the time that has passed: what the processors did is not
// known here.
func processorTime() time.Duration { return time.Since(started) }

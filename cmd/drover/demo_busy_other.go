//go:build !linux

package main

import "time"

// hostBusy is not known on this system.
func hostBusy() (time.Duration, bool) { return 0, false }

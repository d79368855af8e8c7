//go:build unix && !linux

package supervisor

import "time"

var begun = time.Now()

// sinceBoot is only good for differences.
func sinceBoot() time.Duration { return time.Since(begun) }

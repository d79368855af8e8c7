package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Measured is what was found out of the tasks of a job while they ran.
type Measured struct {
	CPU    batch.Share `json:"cpu"`              // that each needs, 1..batch.One
	Memory int64       `json:"memory,omitempty"` // that one used at most, bytes
}

// Measured notes what was found out of the attempt's tasks. It stays when another attempt
// follows, which runs the same. What it is told of other attempts it does not note.
func (s *Site) Measured(key batch.Key, m Measured) {
	j, err := s.attempt(key)
	if err != nil || j.Measured != nil && *j.Measured == m || m.wrong() != "" {
		return
	}
	s.change(j, func() { j.Measured = &m })
}

// wrong says what about it cannot be.
func (m Measured) wrong() string {
	if m.CPU < 1 || m.CPU > batch.One || m.Memory < 0 {
		return fmt.Sprintf("a measured need of %d/%d of a processor and %d bytes", m.CPU, batch.One, m.Memory)
	}
	return ""
}

package client

import (
	"fmt"
	"os"
)

// Text is the Text of an argument of a service whose description is at hand: nobody is
// asked for it when the request is submitted.
func (s *Service) Text(name, text string) Arg {
	about := s.Argument(name)
	if about != nil && about.Type.Written() && !about.Type.Sent() {
		return OutputTo(name, text)
	}
	return value(name, parse(text, about))
}

// Misfit returns why a text cannot be sent for an argument, as far as this machine can
// say: a file that is not there, a matrix that is none. Otherwise it is nil.
func (s *Service) Misfit(name, text string) error {
	about := s.Argument(name)
	if about == nil || !about.Type.Sent() {
		return nil
	}
	switch v := parse(text, about).(type) {
	case misfit:
		return v.err
	case *file:
		if v.block == nil {
			if _, err := os.Stat(text); err != nil {
				return fmt.Errorf("argument %s: %w", name, err)
			}
		}
	}
	return nil
}

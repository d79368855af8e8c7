package services

import "fmt"

// ArgumentError says that one argument of a service was refused.
type ArgumentError struct {
	Argument string // name as in the service's Config, in lower case
	Got      string // what was given
	Accepted string // the accepted range, in words
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: got %s, accepted: %s", e.Argument, e.Got, e.Accepted)
}

// CheckRange returns an *ArgumentError unless low <= got <= high. NaN is in
// no range.
func CheckRange[T int | float64](argument string, got, low, high T) error {
	if got >= low && got <= high {
		return nil
	}
	return &ArgumentError{
		Argument: argument,
		Got:      fmt.Sprint(got),
		Accepted: fmt.Sprintf("%v to %v", low, high),
	}
}

// CheckPath returns an *ArgumentError when a file name that is needed is
// empty.
func CheckPath(argument, path string) error {
	if path != "" {
		return nil
	}
	return &ArgumentError{Argument: argument, Got: `""`, Accepted: "the name of a file"}
}

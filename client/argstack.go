package client

import (
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// ArgStack gathers the arguments of a call while the program runs, for callers
// that cannot write them down as a list. The zero ArgStack is empty and has no
// limit. It is not for several goroutines at once.
type ArgStack struct {
	most int // 0: no limit
	args []any
}

// NewArgStack returns an empty stack of at most so many arguments.
func NewArgStack(most int) (*ArgStack, error) {
	if most < 1 {
		return nil, coded(&problem.Problem{Reason: problem.OutOfRange, Field: "most", Accepted: "1 or more", Message: fmt.Sprint(most)}, nil)
	}
	return &ArgStack{most: most}, nil
}

// Push adds an argument. The first one pushed is the first that the service
// declares. Which values fit:
//
//	int           any integer of at most 64 bits
//	float         any number
//	string        a string
//	bool          a bool
//	file          a string: the path of a file; a []byte: its content
//	file-out      a string: the path to write to; a *[]byte; an io.Writer
//	file-inout    a string: the path of a file, which is replaced; a *[]byte
//	vector        a []float64, or of another type of elements; a Block; a string:
//	              the path of a .npy file, or numbers as 1,2,3
//	vector-out    a *[]float64, ...; a string: the path to write to; an io.Writer
//	vector-inout  a *[]float64, ...; a string: the path of a .npy file, which is replaced
//	matrix        a *Dense[float64], ...; a Block; a string: the path of a .npy file,
//	              or numbers as 1,2;3,4
//	matrix-out    a *Dense[float64], ...; a string: the path to write to; an io.Writer
//	matrix-inout  a *Dense[float64], ...; a string: the path of a .npy file, which is
//	              replaced
//	any           nil: the default; of what only comes out, that it is not wanted
//
// Elements are of the type that the service declares. What goes in and comes out is
// read at the call and replaced when the wait returns: not changed in its place.
//
// The code is RPCRefused when the stack is full.
func (s *ArgStack) Push(v any) error {
	if s.most > 0 && len(s.args) >= s.most {
		return coded(&problem.Problem{
			Reason: problem.OutOfRange, Field: "argument stack", Accepted: fmt.Sprintf("at most %d arguments", s.most), Message: "the stack is full",
		}, nil)
	}
	s.args = append(s.args, v)
	return nil
}

// Pop takes away the argument that was pushed last, and returns it; false when
// there is none.
func (s *ArgStack) Pop() (any, bool) {
	n := len(s.args)
	if n == 0 {
		return nil, false
	}
	v := s.args[n-1]
	s.args[n-1] = nil
	s.args = s.args[:n-1]
	return v, true
}

// Len returns how many arguments are on the stack.
func (s *ArgStack) Len() int { return len(s.args) }

// CallStack is Call with the arguments of a stack, which keeps them.
func (h *Handle) CallStack(ctx context.Context, s *ArgStack) error {
	return h.Call(ctx, s.values()...)
}

// CallStackAsync is CallAsync with the arguments of a stack, which keeps them.
func (h *Handle) CallStackAsync(ctx context.Context, s *ArgStack) (*Session, error) {
	return h.CallAsync(ctx, s.values()...)
}

func (s *ArgStack) values() []any {
	if s == nil {
		return nil
	}
	return s.args
}

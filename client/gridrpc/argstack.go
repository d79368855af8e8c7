package gridrpc

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

// Push adds an argument. The first one pushed is the first that the service declares.
// client.Service.Bind lists which values fit. Inputs are read at the call, and outputs
// are replaced when the wait returns.
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

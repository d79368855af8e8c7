package gridrpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Code is an error code of the GridRPC standard (GFD-R.52), in its order. It is an error
// to compare with: errors.Is(err, gridrpc.NotCompleted).
type Code int

// The codes of the standard. docs/gridrpc.md maps problems to them.
const (
	NoError               Code = iota
	NotInitialized             // no grid was initialized, or it was finalized
	ConfigfileNotFound         // there is no such configuration file
	ConfigfileError            // the configuration is wrong
	ServerNotFound             // no such site, or no site at all
	FunctionNotFound           // no site offers the service
	InvalidFunctionHandle      // a handle that was not made, or was destructed
	InvalidSessionID           // an unknown session
	RPCRefused                 // the grid, or the service's description, refuses the call
	CommunicationFailed        // no answer before patience ran out
	SessionFailed              // the job has not ended well
	NotCompleted               // the job has not ended
	NoneCompleted              // none of the jobs has ended
	OtherErrorCode             // any other error: a defect, a local file
	UnknownErrorCode           // a code or reason that this client does not know
)

// codes are the names of the standard, and texts for people.
var codes = [...]struct{ name, text string }{
	NoError:               {"NO_ERROR", "no error"},
	NotInitialized:        {"NOT_INITIALIZED", "the grid is not initialized"},
	ConfigfileNotFound:    {"CONFIGFILE_NOT_FOUND", "no such configuration file"},
	ConfigfileError:       {"CONFIGFILE_ERROR", "the configuration is wrong"},
	ServerNotFound:        {"SERVER_NOT_FOUND", "no such server"},
	FunctionNotFound:      {"FUNCTION_NOT_FOUND", "no such function"},
	InvalidFunctionHandle: {"INVALID_FUNCTION_HANDLE", "not a function handle that can be called"},
	InvalidSessionID:      {"INVALID_SESSION_ID", "not a session of this grid's"},
	RPCRefused:            {"RPC_REFUSED", "the call is refused"},
	CommunicationFailed:   {"COMMUNICATION_FAILED", "no answer"},
	SessionFailed:         {"SESSION_FAILED", "the session failed"},
	NotCompleted:          {"NOT_COMPLETED", "the call has not completed"},
	NoneCompleted:         {"NONE_COMPLETED", "no call has completed"},
	OtherErrorCode:        {"OTHER_ERROR_CODE", "another error"},
	UnknownErrorCode:      {"UNKNOWN_ERROR_CODE", "an unknown error"},
}

// known returns the code itself, or UnknownErrorCode for an invalid number.
func (c Code) known() Code {
	if c < 0 || int(c) >= len(codes) {
		return UnknownErrorCode
	}
	return c
}

// String returns the name of the code in the standard without GRPC_.
func (c Code) String() string { return codes[c.known()].name }

// Error returns a text for people.
func (c Code) Error() string { return codes[c.known()].text }

// CodeError is an error with its code. All errors of Grid, Handle and Session are of
// this type.
type CodeError struct {
	Code Code
	// Session is the session of the error; nil for none, or several.
	Session *Session
	// Err is the cause; may be nil.
	Err error
}

// Error returns the code's text and the cause.
func (e *CodeError) Error() string {
	if e.Err == nil {
		return e.Code.Error()
	}
	return fmt.Sprintf("%v: %v", e.Code, e.Err)
}

// Is reports whether target is the error's code.
func (e *CodeError) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap returns the cause.
func (e *CodeError) Unwrap() error { return e.Err }

// codeByClass are the codes of problems, by the class of their reasons.
var codeByClass = map[problem.Class]Code{
	problem.Invalid: RPCRefused, problem.NotFound: RPCRefused, problem.Conflict: RPCRefused,
	problem.Precondition: RPCRefused,
	problem.Exhausted:    RPCRefused, problem.Aborted: RPCRefused, problem.Unavailable: RPCRefused,
	problem.Unimplemented: RPCRefused,
	problem.TimedOut:      CommunicationFailed, problem.Defect: OtherErrorCode,
}

// codeByReason are the exceptions.
var codeByReason = map[problem.Reason]Code{
	problem.NoSite: ServerNotFound, problem.UnknownSite: ServerNotFound,
	problem.UnknownService: FunctionNotFound,
	problem.UnknownJob:     InvalidSessionID,
	problem.Unreachable:    CommunicationFailed, problem.Unknown: CommunicationFailed,
	problem.Recorded: NotCompleted,
}

// codeOfReason returns the code of a reason, UnknownErrorCode for one that this client
// does not know.
func codeOfReason(r problem.Reason) Code {
	if code, ok := codeByReason[r]; ok {
		return code
	}
	if code, ok := codeByClass[r.Class()]; ok {
		return code
	}
	return UnknownErrorCode
}

// CodeOf returns the code of an error, NoError for nil.
func CodeOf(err error) Code {
	if err == nil {
		return NoError
	}
	if e, ok := errors.AsType[*CodeError](err); ok {
		return e.Code
	}
	if code, ok := errors.AsType[Code](err); ok {
		return code.known()
	}
	if _, ok := errors.AsType[*client.ConfigError](err); ok {
		if errors.Is(err, fs.ErrNotExist) {
			return ConfigfileNotFound
		}
		return ConfigfileError
	}
	if _, ok := errors.AsType[*client.EndError](err); ok {
		return SessionFailed
	}
	if _, ok := errors.AsType[*submission.UnknownError](err); ok {
		return CommunicationFailed
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return codeOfReason(p.Reason)
	}
	_, impatient := errors.AsType[*submission.PatienceError](err)
	_, hopping := errors.AsType[*submission.HopsError](err)
	switch {
	case impatient, hopping:
		return CommunicationFailed
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return NotCompleted
	}
	return OtherErrorCode
}

// coded returns an error as a *CodeError, about a session or none.
func coded(err error, s *Session) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*CodeError); ok { //nolint:errorlint // the text of a wrapped one is kept
		return e
	}
	return &CodeError{Code: CodeOf(err), Session: s, Err: err}
}

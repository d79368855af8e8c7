package gridrpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestCodesHaveTheNumbersAndNamesOfTheStandard(t *testing.T) {
	for number, name := range []string{
		"NO_ERROR", "NOT_INITIALIZED", "CONFIGFILE_NOT_FOUND", "CONFIGFILE_ERROR", "SERVER_NOT_FOUND",
		"FUNCTION_NOT_FOUND", "INVALID_FUNCTION_HANDLE", "INVALID_SESSION_ID", "RPC_REFUSED", "COMMUNICATION_FAILED",
		"SESSION_FAILED", "NOT_COMPLETED", "NONE_COMPLETED", "OTHER_ERROR_CODE", "UNKNOWN_ERROR_CODE",
	} {
		if c := Code(number); c.String() != name || c.Error() == "" || c.known() != c {
			t.Errorf("%d is %v (%v), want %s", number, c, c.Error(), name)
		}
	}
	for _, c := range []Code{-1, 15, 1 << 40} {
		if c.String() != "UNKNOWN_ERROR_CODE" || CodeOf(c) != UnknownErrorCode {
			t.Errorf("%d is %v", int(c), c)
		}
	}
}

func TestEveryErrorHasOneCode(t *testing.T) {
	refused := &problem.Problem{Reason: "queue-full", Message: "full"}
	for _, tc := range []struct {
		err  error
		want Code
	}{
		{nil, NoError},
		{&CodeError{Code: NoneCompleted, Err: NotCompleted}, NoneCompleted},
		{fmt.Errorf("wrapped: %w", &CodeError{Code: ServerNotFound}), ServerNotFound},
		{NotCompleted, NotCompleted},
		{&client.EndError{Job: &client.Job{}}, SessionFailed},
		{&submission.UnknownError{Err: refused}, CommunicationFailed},
		{&submission.PatienceError{Err: refused}, RPCRefused},
		{&submission.PatienceError{Err: errors.New("no site named")}, CommunicationFailed},
		{&submission.HopsError{}, CommunicationFailed},
		{refused, RPCRefused},
		{&problem.Problem{Reason: problem.Recorded}, NotCompleted},
		{&problem.Problem{Reason: problem.Unknown}, CommunicationFailed},
		{&problem.Problem{Reason: problem.NotIdempotent}, RPCRefused},
		{&problem.Problem{Reason: "a word of next year"}, UnknownErrorCode},
		{context.Canceled, NotCompleted},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), NotCompleted},
		{fs.ErrNotExist, OtherErrorCode},
		{errors.New("anything"), OtherErrorCode},
	} {
		if got := CodeOf(tc.err); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
		if tc.err == nil {
			continue
		}
		if e := codeError(t, "with its code", coded(tc.err, nil), tc.want); !errors.Is(e, tc.want) ||
			errors.Is(e, NotInitialized) {
			t.Errorf("errors.Is of %v", e)
		}
	}
	if err := coded(nil, nil); err != nil {
		t.Errorf("no error is %v", err)
	}
}

func TestACodeErrorNamesItsCodeAndCause(t *testing.T) {
	e := &CodeError{Code: SessionFailed, Err: errors.New("exit status 3")}
	if got, want := e.Error(), "the session failed: exit status 3"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	if got, want := (&CodeError{Code: NoneCompleted}).Error(), "no call has completed"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

func TestEveryReasonHasACode(t *testing.T) {
	for _, r := range problem.Reasons() {
		if codeOfReason(r) == UnknownErrorCode {
			t.Errorf("reason %q has no code", r)
		}
	}
	if got := codeOfReason("new-in-another-version"); got != UnknownErrorCode {
		t.Errorf("an unknown reason has code %v", got)
	}
}

func TestTheDocumentationMapsEveryCodeAndReason(t *testing.T) {
	text, err := os.ReadFile("../../docs/gridrpc.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string) // of the table of codes
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile("^\\| (\\d+) \\| `GRPC_([A-Z_]+)` \\| `([A-Za-z]+)` \\|").FindStringSubmatch(
			line,
		); m != nil {
			rows[m[2]] = line
			if want := fmt.Sprint(len(rows) - 1); m[1] != want ||
				strings.ReplaceAll(m[2], "_", "") != strings.ToUpper(m[3]) {
				t.Errorf("row %s: %s", want, line)
			}
		}
	}
	if len(rows) != len(codes) {
		t.Errorf("%d codes have a row, want %d", len(rows), len(codes))
	}
	for reason, code := range codeByReason {
		if !strings.Contains(rows[code.String()], "`"+string(reason)+"`") && code != RPCRefused {
			t.Errorf("the row of %v is without %s", code, reason)
		}
	}
}

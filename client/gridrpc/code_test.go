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

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

func TestCodesHaveTheNumbersAndNamesOfTheStandard(t *testing.T) {
	for number, name := range []string{
		"NO_ERROR", "NOT_INITIALIZED", "CONFIGFILE_NOT_FOUND", "CONFIGFILE_ERROR", "SERVER_NOT_FOUND", "FUNCTION_NOT_FOUND",
		"INVALID_FUNCTION_HANDLE", "INVALID_SESSION_ID", "RPC_REFUSED", "COMMUNICATION_FAILED", "SESSION_FAILED", "NOT_COMPLETED",
		"NONE_COMPLETED", "OTHER_ERROR_CODE", "UNKNOWN_ERROR_CODE",
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
		if e := codeError(t, "with its code", coded(tc.err, nil), tc.want); !errors.Is(e, tc.want) || errors.Is(e, NotInitialized) {
			t.Errorf("errors.Is of %v", e)
		}
	}
	if err := coded(nil, nil); err != nil {
		t.Errorf("no error is %v", err)
	}
}

func TestACodeErrorSaysWhatAndWhy(t *testing.T) {
	e := &CodeError{Code: SessionFailed, Err: errors.New("exit status 3")}
	if got, want := e.Error(), "the session failed: exit status 3"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	if got, want := (&CodeError{Code: NoneCompleted}).Error(), "no call has completed"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// reasons are the words that proto/drover/v1/error.proto lists.
func reasons(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../proto/drover/v1/error.proto")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "may branch on:")
	list, _, ends := strings.Cut(list, "Readers accept")
	if !found || !ends {
		t.Fatal("error.proto lists no reasons where this test looks for them")
	}
	var words []string
	for _, m := range regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(list, -1) {
		words = append(words, m[1])
	}
	return words
}

func TestEveryReasonOfTheGridHasACode(t *testing.T) {
	words := reasons(t)
	for _, w := range words {
		if codeOfReason(problem.Reason(w)) == UnknownErrorCode {
			t.Errorf("reason %q has no code", w)
		}
	}
	if len(words) < 40 {
		t.Errorf("only %d reasons were found", len(words))
	}
}

func TestTheDocumentationMapsEveryCodeAndReason(t *testing.T) {
	text, err := os.ReadFile("../../docs/gridrpc.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string) // of the table of codes
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile("^\\| (\\d+) \\| `GRPC_([A-Z_]+)` \\| `([A-Za-z]+)` \\|").FindStringSubmatch(line); m != nil {
			rows[m[2]] = line
			if want := fmt.Sprint(len(rows) - 1); m[1] != want || strings.ReplaceAll(m[2], "_", "") != strings.ToUpper(m[3]) {
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

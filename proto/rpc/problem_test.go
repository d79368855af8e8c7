package rpc_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func TestErrorProtoListsExactlyTheReasons(t *testing.T) {
	source, err := os.ReadFile("../drover/v1/error.proto")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "string reason = 1;")
	_, comment, _ = strings.Cut(comment, "message ErrorDetail {")
	sent, byClients, ok := strings.Cut(comment, "given by clients only:")
	if !ok {
		t.Fatal("error.proto does not mark the reasons of clients")
	}
	listed := map[problem.Reason]bool{} // and whether clients give it
	for text, client := range map[string]bool{sent: false, byClients: true} {
		for _, word := range regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(text, -1) {
			r := problem.Reason(word[1])
			if _, twice := listed[r]; twice {
				t.Errorf("error.proto lists %s twice", r)
			}
			listed[r] = client
		}
	}
	for _, r := range problem.Reasons() {
		client, ok := listed[r]
		if !ok {
			t.Errorf("error.proto does not list %s", r)
		}
		if client != r.ByClient() {
			t.Errorf("error.proto says of %s that clients give it: %t, the table %t", r, client, r.ByClient())
		}
		delete(listed, r)
	}
	for r := range listed {
		t.Errorf("error.proto lists %s, which is no reason", r)
	}
}

func TestEveryReasonHasACode(t *testing.T) {
	for _, r := range problem.Reasons() {
		if rpc.Code(r) == connect.CodeUnknown {
			t.Errorf("reason %s has no code", r)
		}
	}
	if c := rpc.Code("a-word-of-the-future"); c != connect.CodeUnknown {
		t.Errorf("code of an unknown reason: %v", c)
	}
}

func TestAnErrorIsBounded(t *testing.T) {
	name := strings.Repeat("\u00e4", 2<<20)
	for _, long := range []string{name, "x" + name, "xx" + name, name + "\xff"} {
		e := rpc.WithDetail(errors.New(long), &problem.Problem{
			Reason: problem.BadValue, Field: long, Accepted: long, Message: long, Hint: long,
		})
		if n := len(e.Message()); n > 4<<10 || n < 4000 || !utf8.ValidString(e.Message()) {
			t.Errorf("text of %d bytes, valid %t", n, utf8.ValidString(e.Message()))
		}
		if !strings.HasSuffix(e.Message(), "...") {
			t.Errorf("the text does not show that it was cut: ...%q", e.Message()[len(e.Message())-20:])
		}
		if len(e.Details()) != 1 || len(e.Details()[0].Bytes()) > 16<<10 {
			t.Errorf("%d details", len(e.Details()))
		}
	}
}

func TestAProblemSurvivesTheWire(t *testing.T) {
	p := &problem.Problem{
		Reason: problem.QueueFull, Field: "f", Accepted: "a", Message: "m", Hint: "h", Retryable: true,
	}
	e := rpc.WithDetail(errors.New("message"), p)
	if e.Code() != connect.CodeResourceExhausted || e.Message() != "message" || len(e.Details()) != 1 {
		t.Fatalf("code %v, message %q, %d details", e.Code(), e.Message(), len(e.Details()))
	}
	v, err := e.Details()[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, rpc.ProblemOf(v.(*droverv1.ErrorDetail))); diff != "" {
		t.Errorf("problem (-sent +received):\n%s", diff)
	}
	if d := rpc.DetailOf(nil); d != nil {
		t.Errorf("detail of no problem: %v", d)
	}
}

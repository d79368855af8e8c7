package rpc

import (
	"strings"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func TestTextFromAnotherServerIsTruncatedAndPrintable(t *testing.T) {
	if got := truncate(strings.Repeat("\u00e9", rpc.MaxText)); len(got) > rpc.MaxText ||
		strings.ContainsRune(got, 0xfffd) {
		t.Errorf("%d bytes", len(got))
	}
	if got := printable("a\tb\u00e9"); got != "a b\u00e9" {
		t.Errorf("%q", got)
	}
}

func TestAMissingRecordIsPrintable(*testing.T) {
	makePrintable((*droverv1.DecisionRecord)(nil))
}

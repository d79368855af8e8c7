package server

import (
	"testing"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

func TestEveryReasonOfTheCoreHasACode(t *testing.T) {
	for _, reason := range []string{
		catalogue.ReasonUnknownArgument, catalogue.ReasonMissingArgument, catalogue.ReasonWrongType,
		catalogue.ReasonOutOfRange, catalogue.ReasonTooWide, catalogue.ReasonTooLong, catalogue.ReasonUnavailable,
		site.ReasonUnknownService, site.ReasonOutOfRange, site.ReasonBadValue, site.ReasonTooWide,
		site.ReasonTooLong, site.ReasonTooLate, site.ReasonNoMemory, site.ReasonCannotRun,
		site.ReasonUnknownJob, site.ReasonJobConflict, site.ReasonStaleID, site.ReasonDependencyFailed,
	} {
		if rpc.Code(problem.Reason(reason)) == connect.CodeUnknown {
			t.Errorf("reason %s has no code", reason)
		}
	}
}

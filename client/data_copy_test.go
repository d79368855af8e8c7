package client

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestACopyIsRetriedWhileItMakesProgress(t *testing.T) {
	broken := connect.NewError(connect.CodeUnavailable, errors.New("broken"))
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(2*time.Second))
		g.Keep("a", handle, "one", nil)
		g.OnCopy = func(nth int, stream *connect.ServerStream[droverv1.CopyDataResponse]) error {
			time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // in virtual time
			if nth > 5 {
				return nil
			}
			_ = stream.Send(&droverv1.CopyDataResponse{HaveBytes: int64(nth), SizeBytes: 6})
			return broken
		}
		d, err := c.CopyData(t.Context(), handle, "b")
		if err != nil || d.Site != "a" && d.Site != "b" || len(g.Copies) != 6 {
			t.Fatalf("%+v, %v after %d", d, err, len(g.Copies))
		}
		delete(g.Held["b"], handle)
		g.Copies = nil
		g.OnCopy = func(_ int, stream *connect.ServerStream[droverv1.CopyDataResponse]) error {
			_ = stream.Send(&droverv1.CopyDataResponse{HaveBytes: 1, SizeBytes: 6})
			return broken
		}
		_, err = c.CopyData(t.Context(), handle, "b")
		if submission.FailureOf(err).Kind != submission.Silent || len(g.Copies) < 5 || len(g.Copies) > 20 {
			t.Errorf("one that gets no further: %v after %d", err, len(g.Copies))
		}
	})
}

func TestASilentCopyCountsAsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(2*time.Second))
		g.Keep("a", handle, "one", nil)
		ends := make(chan struct{})
		defer close(ends)
		g.OnCopy = func(nth int, _ *connect.ServerStream[droverv1.CopyDataResponse]) error {
			if nth == 1 {
				<-ends
			}
			return nil
		}
		began := time.Now()
		_, err := c.CopyData(t.Context(), handle, "b")
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.Timeout ||
			time.Since(began) < rpc.LongestSilence {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

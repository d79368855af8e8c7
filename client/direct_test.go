package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestADirectClientNeedsNoAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.Down("agent")
		d, err := NewDirect("http://b", patient(0), WithTransport(c.transport))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		job, err := d.Submit(t.Context(), "sleep", Text("n", "3"))
		if err != nil || job.Site != "b" || w.B.Sent()[0].GetRequest().GetArguments()["n"].GetIntValue() != 3 {
			t.Errorf("job %+v, %v", job, err)
		}
		if _, err := d.Submit(t.Context(), "nosuch", Text("n", "3")); problem.ReasonOf(err) != "unknown-service" {
			t.Errorf("error %v", err)
		}
		if q, err := d.Status(t.Context()); err != nil || q.Waiting != 2 || !q.Draining || q.Commits != 7 ||
			q.Syncs != 3 || q.Ended != 1 {
			t.Errorf("queue %+v, %v", q, err)
		}
		if _, err := NewDirect("b", patient(0)); err == nil {
			t.Error("a server without a URL")
		}
	})
}

// forgetful begins a move and does not answer; asked again it refuses.
type forgetful struct {
	clienttest.Agent
	asked int
}

func (f *forgetful) MoveJob(
	context.Context, *droverv1.AgentServiceMoveJobRequest,
) (*droverv1.AgentServiceMoveJobResponse, error) {
	if f.asked++; f.asked == 1 {
		return nil, clienttest.ErrCut
	}
	return nil, clienttest.Refusal(connect.CodeFailedPrecondition, &droverv1.ErrorDetail{
		Reason: "not-waiting", Message: "it is moving",
	})
}

func TestAMoveRefusedAfterASilenceMayHaveBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		f := &forgetful{}
		w.ServeAgent(t, f)
		_, _, err := c.Move(t.Context(), id, MoveOrder{})
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != "not-waiting" || e.Hint == "" ||
			f.asked != 2 {
			t.Errorf("error %v, asked %d times", err, f.asked)
		}
		w.Cut("agent")
		_, _, err = c.Move(t.Context(), id, MoveOrder{})
		if gave, ok := errors.AsType[*submission.PatienceError](err); !ok || gave.After != 10_000_000 {
			t.Errorf("error %v", err)
		}
	})
}

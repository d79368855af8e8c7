package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestWaitFollowsAMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.At("a", 0)
		w.A.OnWatch = func(_ context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			w.Agent.At("b", 1)
			return clienttest.States(nil,
				&droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_WAITING},
				&droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_GONE, Epoch: 1, MovedTo: "b"})(nil,
				stream)
		}
		w.B.OnWatch = clienttest.States(nil, &droverv1.Job{
			Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_DONE, Epoch: 1,
		})
		var seen []string
		job, err := c.Watch(t.Context(), id, func(j *Job) { seen = append(seen, j.Site+" "+string(j.State)) })
		if err != nil || job.Site != "b" || job.State != Done {
			t.Fatalf("job %+v, %v", job, err)
		}
		if diff := cmp.Diff([]string{"a waiting", "b done"}, seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWaitSurvivesBrokenWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(time.Second))
		w.Agent.At("a", 0)
		n := 0
		w.A.OnWatch = func(_ context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			running := &droverv1.Job{Id: id, State: droverv1.JobState_JOB_STATE_RUNNING}
			if n++; n < 20 {
				return clienttest.States(clienttest.ErrCut, running)(nil, stream)
			}
			return clienttest.States(nil, running, &droverv1.Job{
				Id: id, State: droverv1.JobState_JOB_STATE_FAILED, Outcome: &droverv1.Outcome{ExitCode: 3},
			})(nil, stream)
		}
		job, err := c.Wait(t.Context(), id)
		if err != nil || job.State != Failed || job.Outcome.ExitCode != 3 {
			t.Fatalf("job %+v, %v", job, err)
		}
	})
}

func TestWaitGivesUpOnAServerThatStaysSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(3*time.Second))
		w.Agent.At("a", 0)
		w.Down("a")
		began := time.Now()
		_, err := c.Wait(t.Context(), id)
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.Unreachable ||
			!strings.Contains(e.Message, "http://a") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("gave up after %v", took)
		}
	})
}

func TestAnUnknownJobFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newWorld(t, patient(3*time.Second))
		began := time.Now()
		_, err := c.Job(t.Context(), id)
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.UnknownJob {
			t.Errorf("error %v", err)
		}
		_, err = c.Job(t.Context(), "x")
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.BadValue || e.Field != "job_id" {
			t.Errorf("error %v", err)
		}
		if time.Since(began) != 0 {
			t.Error("it took a while")
		}
	})
}

func TestAJobThatItsServerForgotIsSearchedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(3*time.Second))
		w.Agent.At("a", 0)
		w.A.OnWatch = func(context.Context, *connect.ServerStream[droverv1.WatchJobResponse]) error {
			w.Agent.At("b", 1)
			return clienttest.Refusal(connect.CodeNotFound, &droverv1.ErrorDetail{
				Reason: "unknown-job", Message: "no such job",
			})
		}
		w.B.OnWatch = clienttest.States(nil, &droverv1.Job{
			Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_DONE, Epoch: 1,
		})
		job, err := c.Wait(t.Context(), id)
		if err != nil || job.Site != "b" {
			t.Fatalf("job %+v, %v", job, err)
		}
	})
}

func TestCallFailsWhenTheJobFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(3*time.Second))
		w.A.OnWatch = clienttest.States(nil, &droverv1.Job{
			Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_KILLED,
			Outcome: &droverv1.Outcome{Reason: "walltime of 1s"},
		})
		var seen []State
		job, err := c.Call(t.Context(), "lu", Notify(func(j *Job) { seen = append(seen, j.State) }))
		end, ok := errors.AsType[*EndError](err)
		if !ok || end.Job != job || !strings.HasSuffix(err.Error(), "at site a: killed (walltime of 1s)") {
			t.Fatalf("job %+v, %v", job, err)
		}
		if diff := cmp.Diff([]State{Waiting, Killed}, seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestLogsResumeWhereTheyBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(3*time.Second))
		w.Agent.At("a", 0)
		w.A.Job = &droverv1.Job{Id: id, State: droverv1.JobState_JOB_STATE_DONE}
		const all = "hello, world"
		w.A.OnLogs = func(req *droverv1.ReadLogsRequest,
			stream *connect.ServerStream[droverv1.ReadLogsResponse],
		) error {
			at := req.GetOffset()
			if err := stream.Send(&droverv1.ReadLogsResponse{
				Data: []byte(all[at:min(at+5, 12)]), Offset: at,
			}); err != nil {
				return err
			}
			if at+5 < 12 {
				return clienttest.ErrCut
			}
			return nil
		}
		var out bytes.Buffer
		if err := c.Logs(t.Context(), id, LogOptions{Follow: true}, &out); err != nil || out.String() != all {
			t.Errorf("%q, %v", out.String(), err)
		}
		out.Reset()
		if err := c.Logs(t.Context(), id, LogOptions{Offset: 7}, &out); err != nil || out.String() != "world" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

func TestDownloadsResumeAndAreVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(3*time.Second))
		w.Agent.At("a", 0)
		const all = "the result"
		digest := sha256.Sum256([]byte(all))
		output := &droverv1.Output{Argument: "x", SizeBytes: 10, Sha256: hex.EncodeToString(digest[:])}
		w.A.Job = &droverv1.Job{Id: id, State: droverv1.JobState_JOB_STATE_DONE, Outputs: []*droverv1.Output{output}}
		w.A.OnDownload = func(argument string, at int64, send func(string)) error {
			send(all[at:min(at+6, 10)])
			if at > 0 {
				return nil
			}
			return clienttest.ErrCut
		}
		path := filepath.Join(t.TempDir(), "x")
		if err := c.Save(t.Context(), id, "x", path); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != all {
			t.Errorf("saved %q, %v", got, err)
		}
		output.Sha256 = strings.Repeat("0", 64)
		if err := c.Save(t.Context(), id, "x", path+"2"); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("a damaged file: %v", err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestListsComeFromTheNextAgentAndInPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(3 * time.Second)
		cfg.Agents = []string{"http://down", "http://agent"}
		_, c := newWorld(t, cfg)
		sites, err := c.Sites(t.Context())
		if err != nil || len(sites) != 2 || sites[0].Name != "a" || sites[1].Name != "b" {
			t.Errorf("%+v, %v", sites, err)
		}
	})
}

func TestTheURLOfAServerIsRefusedAsAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(3 * time.Second)
		cfg.Agents = []string{"http://a"}
		_, c := newWorld(t, cfg)
		_, err := c.Sites(t.Context())
		if err == nil || !strings.Contains(err.Error(), "http://a is not a Drover agent") {
			t.Errorf("error %v", err)
		}
	})
}

func TestLocationsForgetTheOldest(t *testing.T) {
	var p locations
	for i := range uint32(2 * mostLocations) {
		p.put(string(rune('a'+i)), location{epoch: i})
	}
	if got := len(p.newest) + len(p.older); got > mostLocations {
		t.Errorf("remembers %d places", got)
	}
	if p.get(string(rune('a'+2*mostLocations-1))).epoch != 2*mostLocations-1 || p.get("a") != (location{}) {
		t.Error("forgot the newest, or kept the oldest")
	}
}

func TestConfigReportsEveryProblem(t *testing.T) {
	err := (&Config{Agents: []string{"ftp://x"}, Patience: -1}).Validate()
	for _, field := range []string{"agents[0]", "patience", "call timeout"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: not in %v", field, err)
		}
	}
	if _, err := New(Default()); err == nil {
		t.Error("a client without agents")
	}
}

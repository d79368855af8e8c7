package client

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// deaf is an agent that takes every call and never answers.
type deaf struct {
	droverv1connect.UnimplementedAgentServiceHandler
}

func never[T any](ctx context.Context) (*T, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (deaf) Map(ctx context.Context, _ *droverv1.MapRequest) (*droverv1.MapResponse, error) {
	return never[droverv1.MapResponse](ctx)
}

func (deaf) FindJob(ctx context.Context, _ *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	return never[droverv1.FindJobResponse](ctx)
}

func (deaf) ListSites(ctx context.Context, _ *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	return never[droverv1.ListSitesResponse](ctx)
}

func (deaf) ListServices(ctx context.Context, _ *droverv1.ListServicesRequest) (*droverv1.ListServicesResponse, error) {
	return never[droverv1.ListServicesResponse](ctx)
}

func (deaf) ListJobs(
	ctx context.Context, _ *droverv1.AgentServiceListJobsRequest,
) (*droverv1.AgentServiceListJobsResponse, error) {
	return never[droverv1.AgentServiceListJobsResponse](ctx)
}

func (deaf) ListMoves(
	ctx context.Context, _ *droverv1.AgentServiceListMovesRequest,
) (*droverv1.AgentServiceListMovesResponse, error) {
	return never[droverv1.AgentServiceListMovesResponse](ctx)
}

func (deaf) SetDraining(
	ctx context.Context, _ *droverv1.AgentServiceSetDrainingRequest,
) (*droverv1.AgentServiceSetDrainingResponse, error) {
	return never[droverv1.AgentServiceSetDrainingResponse](ctx)
}

func TestEveryCallTriesTheNextAgentWhenOneNeverAnswers(t *testing.T) {
	for name, call := range map[string]func(context.Context, *Client) error{
		"submit": func(ctx context.Context, c *Client) error { _, err := c.Submit(ctx, "lu"); return err },
		"text": func(ctx context.Context, c *Client) error {
			_, err := c.Submit(ctx, "lu", Text("n", "3"))
			return err
		},
		"job":      func(ctx context.Context, c *Client) error { _, err := c.Job(ctx, id); return err },
		"sites":    func(ctx context.Context, c *Client) error { _, err := c.Sites(ctx); return err },
		"services": func(ctx context.Context, c *Client) error { _, err := c.Services(ctx); return err },
		"jobs":     func(ctx context.Context, c *Client) error { _, err := c.Jobs(ctx, JobFilter{}); return err },
		"moves":    func(ctx context.Context, c *Client) error { _, err := c.Moves(ctx, MoveFilter{}); return err },
		"drain":    func(ctx context.Context, c *Client) error { _, err := c.Drain(ctx, "a"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := patient(10 * time.Second)
				cfg.Agents = []string{"http://deaf", "http://agent"}
				w, c := newWorld(t, cfg)
				path, h := droverv1connect.NewAgentServiceHandler(deaf{})
				w.Net.Serve(t, "deaf", path, h)
				w.Agent.At("a", 0)
				w.Agent.Service = &droverv1.Service{Name: "lu"}
				w.A.Job = &droverv1.Job{Id: id}
				began := time.Now()
				if err := call(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < time.Second || took > 2*time.Second {
					t.Errorf("took %v, with a second for each call", took)
				}
				began = time.Now()
				if err := call(t.Context(), c); err != nil || time.Since(began) > 0 {
					t.Errorf("the next call: %v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// dying answers the first page of a list, and nothing after that.
type dying struct {
	clienttest.Agent
	die func()
}

func (d *dying) ListSites(context.Context, *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	d.die()
	return &droverv1.ListSitesResponse{
		Sites: []*droverv1.KnownSite{{Site: &droverv1.Site{Name: "of the dead"}}}, NextPageToken: "its own",
	}, nil
}

func (d *dying) ListJobs(
	_ context.Context, req *droverv1.AgentServiceListJobsRequest,
) (*droverv1.AgentServiceListJobsResponse, error) {
	if req.GetPageToken() != "" {
		d.die()
	}
	return &droverv1.AgentServiceListJobsResponse{
		Jobs: []*droverv1.Job{{Id: "a"}}, NextPageToken: "its own",
	}, nil
}

// What was seen cannot be taken back, so another agent must not begin the list again.
func TestAListThatIsSeenPageByPageEndsWhenItsAgentDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(10 * time.Second)
		cfg.Agents = []string{"http://gone", "http://dying", "http://agent"}
		w, c := newWorld(t, cfg)
		d := &dying{}
		d.die = func() { w.Cut("dying") }
		path, h := droverv1connect.NewAgentServiceHandler(d)
		w.Net.Serve(t, "dying", path, h)
		seen := 0
		err := c.JobPages(t.Context(), JobFilter{}, func(l *JobList) error {
			seen += len(l.Jobs)
			return nil
		})
		if seen != 1 || err == nil {
			t.Errorf("%d jobs, %v", seen, err)
		}
		stop := errors.New("enough")
		if err := c.JobPages(t.Context(), JobFilter{}, func(*JobList) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("the caller's error: %v", err)
		}
	})
}

func TestAListRestartsWhenItsAgentDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(10 * time.Second)
		cfg.Agents = []string{"http://dying", "http://agent"}
		w, c := newWorld(t, cfg)
		d := &dying{}
		d.die = func() { w.Cut("dying") }
		path, h := droverv1connect.NewAgentServiceHandler(d)
		w.Net.Serve(t, "dying", path, h)
		sites, err := c.Sites(t.Context())
		if err != nil || len(sites) != 2 || sites[0].Name != "a" || sites[1].Name != "b" {
			t.Errorf("%+v, %v", sites, err)
		}
	})
}

func TestWaitSurvivesARestartOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(time.Second)
		cfg.LongPatience = time.Minute
		w, c := newWorld(t, cfg)
		w.Agent.At("a", 0)
		running := &droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_RUNNING}
		w.A.OnWatch = func(_ context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			was := w.Cut("a")
			time.AfterFunc(30*time.Second, func() {
				w.A.OnWatch = clienttest.States(nil,
					&droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_DONE})
				w.Up("a", was)
			})
			return clienttest.States(clienttest.ErrCut, running)(nil, stream)
		}
		job, err := c.Wait(t.Context(), id)
		if err != nil || job.State != Done {
			t.Fatalf("job %+v, %v", job, err)
		}
		w.Cut("a")
		began := time.Now()
		_, err = c.Wait(t.Context(), id)
		if gave, ok := errors.AsType[*submission.PatienceError](err); !ok || gave.Job != id ||
			gave.Target.Site != "a" || gave.Tries < 20 || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestASilentWatchTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.At("a", 0)
		w.A.OnWatch = func(ctx context.Context, _ *connect.ServerStream[droverv1.WatchJobResponse]) error {
			<-ctx.Done()
			return ctx.Err()
		}
		_, err := c.Wait(t.Context(), id)
		if problem.ReasonOf(err) != problem.Timeout {
			t.Errorf("error %v", err)
		}
	})
}

func TestAnIncomingJobIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.At("b", 1)
		w.B.OnWatch = clienttest.States(nil,
			&droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_INCOMING, Epoch: 1, Peer: "a"},
			&droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_WAITING, Epoch: 1},
			&droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_DONE, Epoch: 1})
		var seen []string
		job, err := c.Watch(t.Context(), id, func(j *Job) { seen = append(seen, string(j.State)+j.Peer) })
		if err != nil || job.State != Done || strings.Join(seen, " ") != "incominga waiting done" {
			t.Errorf("job %+v, %v, seen %v", job, err, seen)
		}
	})
}

func TestLogsFollowAJobThatMovesBeforeItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.At("a", 0)
		w.A.Job = &droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_WAITING}
		w.A.OnLogs = func(*droverv1.ReadLogsRequest, *connect.ServerStream[droverv1.ReadLogsResponse]) error {
			w.A.Job = &droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_GONE, Epoch: 1}
			w.Agent.At("b", 1)
			return nil
		}
		w.B.Job = &droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_INCOMING, Epoch: 1}
		visits := 0
		w.B.OnLogs = func(req *droverv1.ReadLogsRequest,
			stream *connect.ServerStream[droverv1.ReadLogsResponse],
		) error {
			const all = "hello, world"
			at := req.GetOffset()
			visits++
			switch visits {
			case 1: // not here yet: nothing to read, and no end
				return nil
			case 2: // a server that stops ends its streams
				w.B.Job = &droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_RUNNING, Epoch: 1}
				return stream.Send(&droverv1.ReadLogsResponse{Data: []byte(all[:5])})
			}
			w.B.Job = &droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_DONE, Epoch: 1}
			return stream.Send(&droverv1.ReadLogsResponse{Data: []byte(all[at:]), Offset: at})
		}
		var out bytes.Buffer
		if err := c.Logs(t.Context(), id, LogOptions{Follow: true}, &out); err != nil ||
			out.String() != "hello, world" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

// begunBuffer signals the first write to it.
type begunBuffer struct {
	bytes.Buffer
	begun chan struct{}
}

func (b *begunBuffer) Write(p []byte) (int, error) {
	if b.Len() == 0 {
		close(b.begun)
	}
	return b.Buffer.Write(p)
}

func TestDownloadsSurviveARestartOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(time.Second)
		cfg.LongPatience = time.Minute
		w, c := newWorld(t, cfg)
		w.Agent.At("a", 0)
		w.A.Job = &droverv1.Job{Id: id, State: droverv1.JobState_JOB_STATE_DONE}
		out := &begunBuffer{begun: make(chan struct{})}
		w.A.OnDownload = func(argument string, at int64, send func(string)) error {
			const all = "the result"
			if at == 0 {
				send(all[:4])
				<-out.begun // what was sent may be lost with the connection
				was := w.Cut("a")
				time.AfterFunc(20*time.Second, func() { w.Up("a", was) })
				return clienttest.ErrCut
			}
			send(all[at:])
			return nil
		}
		if err := c.Download(t.Context(), id, "x", out); err != nil || out.String() != "the result" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

func TestARecordedCancelIsRepeatedUntilTheAuthorityDecides(t *testing.T) {
	answer := func(site string, state droverv1.JobState, recorded bool) (*droverv1.CancelJobResponse, error) {
		return &droverv1.CancelJobResponse{Job: &droverv1.Job{
			Id: id, Site: site, State: state, CancelRecorded: recorded, Epoch: 1,
		}}, nil
	}
	t.Run("it stays, and is cancelled there", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, c := newWorld(t, patient(10*time.Second))
			w.Agent.At("a", 0)
			w.A.OnCancel = func(nth int) (*droverv1.CancelJobResponse, error) {
				return answer("a", []droverv1.JobState{
					droverv1.JobState_JOB_STATE_MOVING, droverv1.JobState_JOB_STATE_YIELDING,
					droverv1.JobState_JOB_STATE_CANCELLED,
				}[nth-1], nth < 3)
			}
			job, err := c.Cancel(t.Context(), id)
			if err != nil || job.State != Cancelled || len(w.A.Cancels) != 3 {
				t.Errorf("job %+v, %v after %d cancels", job, err, len(w.A.Cancels))
			}
		})
	})
	t.Run("it goes, and is cancelled elsewhere", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, c := newWorld(t, patient(10*time.Second))
			w.Agent.At("a", 0)
			w.A.OnCancel = func(int) (*droverv1.CancelJobResponse, error) {
				w.Agent.At("b", 1)
				return answer("a", droverv1.JobState_JOB_STATE_GONE, false)
			}
			w.B.OnCancel = func(nth int) (*droverv1.CancelJobResponse, error) {
				if nth == 1 {
					return answer("b", droverv1.JobState_JOB_STATE_INCOMING, true)
				}
				return answer("b", droverv1.JobState_JOB_STATE_CANCELLING, false)
			}
			job, err := c.Cancel(t.Context(), id)
			if err != nil || job.State != Cancelling || job.Site != "b" || len(w.B.Cancels) != 2 {
				t.Errorf("job %+v, %v after %d cancels", job, err, len(w.B.Cancels))
			}
		})
	})
	t.Run("no answer for longer than patience", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, c := newWorld(t, patient(10*time.Second))
			w.Agent.At("b", 1)
			w.B.OnCancel = func(int) (*droverv1.CancelJobResponse, error) {
				return answer("b", droverv1.JobState_JOB_STATE_INCOMING, true)
			}
			if _, err := c.Cancel(t.Context(), id); problem.ReasonOf(err) != problem.Recorded {
				t.Errorf("error %v", err)
			}
		})
	})
}

func TestAJobOfASilentSiteIsAsTheAgentLastKnewIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.At("a", 2)
		w.Agent.Found.Job = clienttest.Refound(w.Agent.Found.Job)
		w.Down("a")
		job, err := c.Job(t.Context(), id)
		if err != nil || job.UnknownFor != time.Minute || job.State != Running || job.Site != "a" {
			t.Errorf("job %+v, %v", job, err)
		}
	})
}

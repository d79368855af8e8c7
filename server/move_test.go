package server

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

var payload = []byte(strings.Repeat("Every one of these bytes must arrive.\n", 9_000)) // several messages

func TestMovedJobTakesItsFilesAndRunsOnce(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "policy: {name: fcfs}")
	id := g.queue(payload)
	j, err := g.move(&droverv1.MoveJobRequest{
		JobId: id, To: "nice", MinGain: seconds(10), Reason: "it would wait",
		Agent: "a",
	})
	if err != nil || j.GetState() != droverv1.JobState_JOB_STATE_MOVING || j.GetPeer() != "nice" || j.GetEpoch() != 1 {
		t.Fatalf("moving: %v, %v", j, err)
	}
	left := g.source.until(id, gone)
	if left.GetMovedTo() != "nice" || left.GetEpoch() != 1 {
		t.Errorf("job at the source: %v", left)
	}
	at, j := g.settled(id, payload)
	if at != g.target {
		t.Errorf("the job ran at %s", at.name)
	}
	if len(j.GetMoves()) != 1 {
		t.Fatalf("moves: %v", j.GetMoves())
	}
	m := j.GetMoves()[0]
	if m.GetFrom() != "lyon" || m.GetTo() != "nice" || m.GetEpoch() != 1 ||
		m.GetState() != droverv1.MoveState_MOVE_STATE_MOVED ||
		m.GetReason() != "it would wait" || m.GetAgent() != "a" || m.GetMinGain().GetSeconds() != 10 ||
		m.GetSettledAt() == nil {
		t.Errorf("move: %v", m)
	}
	if p := m.GetPredictedGain().AsDuration().Seconds(); p < 30 || p > 101 {
		t.Errorf("predicted gain %v", p)
	}
	if r := m.GetRealizedGain().AsDuration(); r < m.GetPredictedGain().AsDuration() {
		t.Errorf("realized gain %v of a predicted %v for a job that ended at once", r,
			m.GetPredictedGain().AsDuration())
	}
	list, err := g.target.client.ListMoves(within(t), &droverv1.ServerServiceListMovesRequest{Filter: "state=moved"})
	if err != nil || len(list.GetMoves()) != 1 || list.GetMoves()[0].GetJobId() != id ||
		list.GetMoves()[0].GetRealizedGain() == nil {
		t.Errorf("moves of the target: %v, %v", list, err)
	}
}

// One of the two servers is killed before or after each message of a move. After its
// restart the job runs once, with its file.
func TestServerKilledDuringAMoveRunsTheJobOnce(t *testing.T) {
	t.Parallel()
	type scenario struct {
		at   string // receiver of the message
		step string
		when moment
		kill string
	}
	var all []scenario
	for _, s := range []struct{ at, step string }{
		{"target", "Reserve"},
		{"source", "ReadContent"},
		{"target", "Confirm"},
	} {
		for _, m := range []moment{before, after} {
			for _, victim := range []string{"source", "target", "both"} {
				all = append(all, scenario{s.at, s.step, m, victim})
			}
		}
	}
	for _, s := range all {
		name := fmt.Sprintf("%s is killed %s %s", s.kill, map[moment]string{before: "before", after: "after"}[s.when],
			s.step)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "")
			id := g.queue(payload)
			sites := map[string]*processSite{"source": g.source, "target": g.target}
			var victims []*processSite
			for role, p := range sites {
				if s.kill == role || s.kill == "both" {
					victims = append(victims, p)
				}
			}
			killed := g.when(sites[s.at], s.step, s.when, func() {
				for _, p := range victims {
					p.kill()
				}
			})
			if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil && s.kill == "target" {
				t.Fatal(err) // otherwise the answer can be lost with the source
			}
			select {
			case <-killed:
			case <-within(t).Done():
				t.Fatal("the message was not sent")
			}
			for _, p := range victims {
				p.run()
			}
			at, _ := g.settled(id, payload)
			t.Log("the job ran at", at.name)
			if committed := s.step == "Confirm"; committed != (at == g.target) && (committed || s.kill != "target") {
				t.Errorf("the job ran at %s", at.name)
			}
			g.gathered()
		})
	}
}

func TestRefusedMoveLeavesTheJobInPlace(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue([]byte("x"))
	for name, c := range map[string]struct {
		change func(*droverv1.MoveJobRequest)
		reason string
		field  string
		code   connect.Code
	}{
		"no job": {
			func(r *droverv1.MoveJobRequest) { r.JobId = newID(t) }, "unknown-job", "job_id",
			connect.CodeNotFound,
		},
		"no site": {func(r *droverv1.MoveJobRequest) { r.To = "mars" }, "unknown-site", "to", connect.CodeNotFound},
		"no name": {func(r *droverv1.MoveJobRequest) { r.To = "" }, "unknown-site", "to", connect.CodeNotFound},
		"itself":  {func(r *droverv1.MoveJobRequest) { r.To = "lyon" }, "bad-value", "to", connect.CodeInvalidArgument},
		"other epoch": {
			func(r *droverv1.MoveJobRequest) { r.SeenEpoch = 4_000_000_000 }, "stale-epoch", "seen_epoch",
			connect.CodeFailedPrecondition,
		},
	} {
		req := &droverv1.MoveJobRequest{JobId: id, To: "nice"}
		c.change(req)
		_, err := g.move(req)
		if code, d := detail(t, err); code != c.code || d.GetReason() != c.reason || d.GetField() != c.field {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
	// The target refuses first because it is draining, then because the gain is too small.
	if _, err := g.target.client.SetDraining(within(t), &droverv1.SetDrainingRequest{Draining: true}); err != nil {
		t.Fatal(err)
	}
	g.aborted(&droverv1.MoveJobRequest{JobId: id, To: "nice"}, "drained")
	g.target.kill()
	g.target.run() // it is still draining
	g.aborted(&droverv1.MoveJobRequest{JobId: id, To: "nice", SeenEpoch: 1}, "drained")
	if _, err := g.target.client.SetDraining(within(t), &droverv1.SetDrainingRequest{}); err != nil {
		t.Fatal(err)
	}
	g.aborted(&droverv1.MoveJobRequest{JobId: id, To: "nice", SeenEpoch: 2, MinGain: seconds(3600)},
		"its gain would be")
	if list, err := g.source.client.ListMoves(within(t),
		&droverv1.ServerServiceListMovesRequest{Filter: "state=aborted job=" + id}); err != nil ||
		len(list.GetMoves()) != 3 {
		t.Errorf("moves: %v, %v", list, err)
	}
	at, j := g.settled(id, []byte("x"))
	if at != g.source || j.GetEpoch() != 3 {
		t.Errorf("the job ran at %s: %v", at.name, j)
	}
	g.gathered()
	if _, err := g.target.client.GetJob(within(t),
		&droverv1.GetJobRequest{JobId: id}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("GetJob at the target: %v", err)
	}
}

// aborted starts a move and checks that it aborts for this reason.
func (g *grid) aborted(req *droverv1.MoveJobRequest, why string) {
	g.t.Helper()
	if _, err := g.move(req); err != nil {
		g.t.Fatal(err)
	}
	j := g.source.until(req.GetJobId(), waiting)
	if m := j.GetMoves()[len(j.GetMoves())-1]; m.GetState() != droverv1.MoveState_MOVE_STATE_ABORTED ||
		!strings.Contains(m.GetAbortedWhy(), why) || m.GetEpoch() != req.GetSeenEpoch()+1 {
		g.t.Errorf("move: %v", m)
	}
}

func TestJobWithoutASuitableServiceAtTheTargetStays(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	g.target.stop()
	g.target.write("nodes: [{count: 1, processors: 2}]\ngossip: {bind: " + freeport.Address(t) + ", seeds: [" + g.seed +
		"]}\nurl: " + g.urls["nice"] +
		"\nservices:\n  inline:\n    - {name: fed, doc: Other., args: [{name: x, type: int}], command: [drover], " +
		"model: {fixed: {width: 1, time: 1s}}}\n" +
		"    - {name: once, doc: Other., args: [{name: ledger, type: string}, {name: gate, type: string}, {name: " +
		"code, type: int}, {name: out, type: file-out}], command: [drover], model: {table: {1: 1s, 4: 1s}}}")
	g.target.run()
	fed := g.queue([]byte("x"))
	wide := g.source.submit(newID(t), g.ground.request("once", 4, false, 0)).GetId()
	unknown := g.source.submit(newID(t), g.ground.request("again", 1, false, 0)).GetId()
	g.aborted(&droverv1.MoveJobRequest{JobId: fed, To: "nice"}, "argument")
	g.aborted(&droverv1.MoveJobRequest{JobId: wide, To: "nice"}, "width")
	g.aborted(&droverv1.MoveJobRequest{JobId: unknown, To: "nice"}, "again")
	g.settled(fed, []byte("x"))
	g.source.until(wide, done)
	g.source.until(unknown, done)
}

// begin uploads the beginning of some content to a site, like an interrupted upload.
func (p *processSite) begin(content, beginning []byte) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(within(p.t), http.MethodPut,
		"http://"+p.address()+"/v1/content/"+sum(content), bytes.NewReader(beginning))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(beginning)-1, len(content)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		p.t.Fatalf("status %s", res.Status)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestInputTransferOfAMoveResumes(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue(payload)
	half := payload[:len(payload)/2]
	g.target.begin(payload, half)
	// The source's first half is damaged, which proves that only the rest is transferred.
	at := filepath.Join(g.source.dir, "jobs", id, "in", "input", "a file.txt")
	spoilt := append(bytes.Repeat([]byte("?"), len(half)), payload[len(half):]...)
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	if at, _ := g.settled(id, payload); at != g.target {
		t.Errorf("the job ran at %s", at.name)
	}
}

func TestCorruptPartialTransferStartsOver(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue(payload)
	g.target.begin(payload, bytes.Repeat([]byte("?"), 1000))
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	if at, _ := g.settled(id, payload); at != g.target {
		t.Errorf("the job ran at %s", at.name)
	}
}

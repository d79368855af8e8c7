package server

import (
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestFailedJobIsRetriedAsOftenAsRequested(t *testing.T) {
	s := start(t, configured(t, "policy: {name: easy}"))
	for name, c := range map[string]struct {
		good    int64 // number of tries that fail
		retries int32
		on      []int32
		want    droverv1.JobState
		tries   uint32
	}{
		"success at the third try": {2, 5, nil, done, 3},
		"retryable exit code":      {1, 1, []int32{1, 75}, done, 2},
		"other exit code":          {1, 5, []int32{1, 74}, failed, 1},
		"too many failures":        {5, 2, nil, failed, 3},
		"no retries requested":     {1, 0, nil, failed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			book := filepath.Join(t.TempDir(), "book")
			j := s.submit(t, &droverv1.Request{
				Service: "flaky", Arguments: arguments{
					"book": text(book),
					"good": number(c.good),
				}, Retries: c.retries, RetryOn: c.on,
			})
			if r := j.GetRequest(); r.GetRetries() != c.retries || len(r.GetRetryOn()) != len(c.on) {
				t.Errorf("request: %v", r)
			}
			j = s.until(t, j.GetId(), c.want)
			if j.GetAttempt() != c.tries || j.GetRetried() != c.tries-1 {
				t.Errorf("attempt %d, retried %d, want %d", j.GetAttempt(), j.GetRetried(), c.tries)
			}
			if text, err := os.ReadFile(book); err != nil || len(text) != int(c.tries) {
				t.Errorf("the job ran %d times: %v", len(text), err)
			}
			// The log and the outputs are those of the last try.
			want := "try " + string(rune('0'+c.tries-1)) + "\n"
			if got := s.log(t, &droverv1.ReadLogsRequest{JobId: j.GetId()}); got != want {
				t.Errorf("log %q, want %q", got, want)
			}
			if outputs := len(j.GetOutputs()); outputs > 0 != (c.tries == 1) {
				t.Errorf("outputs after %d tries: %v", c.tries, j.GetOutputs())
			}
		})
	}
}

func TestTheFieldsOfRetriesAreChecked(t *testing.T) {
	s := start(t, configured(t, ""))
	for field, r := range map[string]*droverv1.Request{
		"request.retries":     {Service: "print", Retries: 101},
		"request.retry_on":    {Service: "print", RetryOn: []int32{1}},
		"request.retry_on[1]": {Service: "print", Retries: 1, RetryOn: []int32{1, 256}},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: r})
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != field ||
			d.GetAccepted() == "" {
			t.Errorf("%s: %v %v", field, code, d)
		}
	}
}

// The server is killed during each try of a job. No try is lost, and none happens twice.
func TestRetriesSurviveKillsOfTheServer(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	p := newProcessSite(t, "lyon", "policy: {name: fcfs}")
	p.run()
	id := newID(t)
	r := g.request("once", 4, true, 9)
	r.Retries = 3
	p.submit(id, r)
	p.ready(id)
	p.kill()
	g.open() // it fails while the server is down; all later tries fail at once
	p.run()
	p.until(id, waiting, running, droverv1.JobState_JOB_STATE_STARTING, failed)
	p.kill()
	p.run()
	j := p.until(id, failed)
	if lines, _, _ := g.lines(t); lines[id] != 4 || j.GetRetried() != 3 || j.GetOutcome().GetExitCode() != 9 {
		t.Errorf("%d runs, retried %d: %v", lines[id], j.GetRetried(), j.GetOutcome())
	}
}

// A reader that follows the log receives the whole last try. Each try overwrites a log of
// the same length.
func TestFollowedLogRestartsWithEachTry(t *testing.T) {
	s := start(t, configured(t, "policy: {name: fcfs}"))
	name, say := pipe(t)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 4, Arguments: arguments{"pipe": text(name)}})
	book := filepath.Join(t.TempDir(), "book")
	j := s.submit(t, &droverv1.Request{
		Service: "flaky", Arguments: arguments{"book": text(book), "good": number(3)},
		Retries: 3,
	})
	followed := make(chan string)
	go func() {
		stream, err := s.client.ReadLogs(within(t), &droverv1.ReadLogsRequest{JobId: j.GetId(), Follow: true})
		text := ""
		for err == nil && stream.Receive() {
			if stream.Msg().GetOffset() == 0 {
				text = ""
			}
			if int(stream.Msg().GetOffset()) != len(text) {
				text += " a gap "
			}
			text += string(stream.Msg().GetData())
		}
		followed <- text
	}()
	say("x")
	s.until(t, first.GetId(), done)
	s.until(t, j.GetId(), done)
	if got := <-followed; got != "try 3\n" {
		t.Errorf("%q", got)
	}
}

// A job that moves between two tries keeps its count of tries.
func TestMovedJobKeepsItsNumberOfTries(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "policy: {name: fcfs}")
	first := newGround(t)
	id := newID(t)
	r := first.request("once", 4, true, 9)
	r.Retries = 3
	g.source.submit(id, r)
	g.source.ready(id)
	busy := newID(t)
	g.source.submit(busy, g.ground.request("once", 4, true, 0))
	first.open() // it fails and goes to the end of the queue
	g.source.ready(busy)
	if j := g.source.until(id, waiting); j.GetRetried() != 1 || j.GetAttempt() != 2 {
		t.Fatalf("after the first try: %v", j)
	}
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	j := g.target.until(id, failed)
	if lines, _, _ := first.lines(t); lines[id] != 4 || j.GetRetried() != 3 {
		t.Errorf("%d runs, retried %d", lines[id], j.GetRetried())
	}
	g.ground.open()
	g.source.until(busy, done)
}

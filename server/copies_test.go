package server

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// wire is a proxy to a server. It counts the bytes of the answers, and can cut or stall
// them once.
type wire struct {
	l      net.Listener
	to     string
	mu     sync.Mutex
	passed int64           // bytes of answers
	cut    int64           // cut the connection after this many; 0: never
	stall  int64           // stall after this many; 0: never
	stuck  chan struct{}   // closed when stalled
	free   chan struct{}   // closed by the test to resume
	all    []net.Conn      // open connections
	ended  *sync.WaitGroup // their goroutines
}

func newWire(t *testing.T) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{l: l, stuck: make(chan struct{}), free: make(chan struct{}), ended: new(sync.WaitGroup)}
	t.Cleanup(func() {
		w.l.Close()
		w.mu.Lock()
		for _, c := range w.all {
			c.Close()
		}
		select {
		case <-w.free:
		default:
			close(w.free)
		}
		w.mu.Unlock()
		w.ended.Wait()
	})
	return w
}

// lead starts to forward connections to a server.
func (w *wire) lead(to string) {
	w.to = to
	w.ended.Go(w.serve)
}

func (w *wire) serve() {
	for {
		from, err := w.l.Accept()
		if err != nil {
			return
		}
		to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", w.to)
		if err != nil {
			from.Close()
			continue
		}
		w.mu.Lock()
		w.all = append(w.all, from, to)
		w.mu.Unlock()
		w.ended.Go(func() { _, _ = io.Copy(to, from); to.Close() })
		w.ended.Go(func() { _, _ = io.Copy(from, &counter{w, to}); from.Close(); to.Close() })
	}
}

// counter counts the bytes of answers that it reads.
type counter struct {
	w *wire
	net.Conn
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.w.mu.Lock()
	c.w.passed += int64(n)
	cut := c.w.cut > 0 && c.w.passed >= c.w.cut
	stall := c.w.stall > 0 && c.w.passed >= c.w.stall
	if cut {
		c.w.cut = 0
	}
	if stall {
		c.w.stall = 0
		close(c.w.stuck)
	}
	c.w.mu.Unlock()
	if stall {
		<-c.w.free
	}
	if cut {
		return 0, errors.New("cut")
	}
	return n, err
}

func (w *wire) came() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.passed
}

// pair runs two sites. Paris reaches lyon over the wire and knows it by gossip.
func pair(t *testing.T, lines string) (w *wire, lyon, paris *testSite) {
	t.Helper()
	w = newWire(t)
	cfg := configured(t, "")
	cfg.URL = "http://" + w.l.Addr().String()
	lyon = start(t, cfg)
	w.lead(lyon.Addr())
	paris = start(t, pariscfg(t, lyon, lines))
	paris.meets(t, "lyon")
	return w, lyon, paris
}

func pariscfg(t *testing.T, lyon *testSite, lines string) Config {
	t.Helper()
	cfg := configured(t, lines)
	cfg.Name = "paris"
	cfg.Gossip.Seeds = []string{lyon.Seed()}
	return cfg
}

// meets waits until the server knows the named site.
func (s *testSite) meets(t *testing.T, name string) {
	t.Helper()
	ctx := within(t)
	for {
		if _, err := s.Peer("", name); err == nil {
			return
		}
		if pause(ctx, 5*time.Millisecond); ctx.Err() != nil {
			t.Fatalf("site %s did not become known", name)
		}
	}
}

// bring copies data to s and returns all progress messages.
func (s *testSite) bring(ctx context.Context, req *droverv1.CopyDataRequest) ([]*droverv1.CopyDataResponse, error) {
	stream, err := s.client.CopyData(ctx, req)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var all []*droverv1.CopyDataResponse
	for stream.Receive() {
		all = append(all, stream.Msg())
	}
	return all, stream.Err()
}

// megabytes is content that does not compress.
func megabytes(n int) string {
	var b strings.Builder
	for i := uint32(1); b.Len() < n<<20; i = i*1664525 + 1013904223 {
		b.WriteByte(byte(i >> 24))
	}
	return b.String()
}

func TestDataAreCopiedFromAnotherSite(t *testing.T) {
	_, lyon, paris := pair(t, "")
	content := megabytes(2)
	d := lyon.put(t, content, persistentMode)
	all, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: d.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	if c := last.GetData(); c.GetSite() != "paris" || !c.GetCopy() ||
		c.GetContent().GetSha256() != d.GetContent().GetSha256() || c.GetOwner() != "ann" ||
		c.GetMode() != persistentMode {
		t.Errorf("copy: %v", c)
	}
	if last.GetHaveBytes() != 2<<20 || last.GetSizeBytes() != 2<<20 || len(all) < 2 || all[0].GetSizeBytes() != 2<<20 {
		t.Errorf("progress: %v", all)
	}
	if got, err := paris.fetch(within(t), d.GetId(), 0); err != nil || got != content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if all, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: d.GetId(), From: "lyon"}); err != nil ||
		len(all) != 1 || all[0].GetData() == nil {
		t.Errorf("second copy: %v, %v", all, err)
	}
	empty := lyon.put(t, "", persistentMode)
	if _, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: empty.GetId(), From: "lyon"}); err != nil ||
		!paris.has(t, empty.GetId()) {
		t.Errorf("empty data: %v", err)
	}
}

func TestInterruptedCopyResumes(t *testing.T) {
	w, lyon, paris := pair(t, "")
	d := lyon.put(t, megabytes(32), persistentMode)
	w.mu.Lock()
	w.cut = w.passed + 24<<20
	w.mu.Unlock()
	if _, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: d.GetId()}); err != nil {
		t.Fatal(err)
	}
	// The cut loses what was in the system's buffers.
	if came := w.came(); came > 46<<20 {
		t.Errorf("%d bytes transferred for 32 MiB cut after 24 MiB", came)
	}
	if !paris.has(t, d.GetId()) {
		t.Error("the copy is missing")
	}
}

func TestCopyResumesAfterARestart(t *testing.T) {
	w := newWire(t)
	cfg := configured(t, "")
	cfg.URL = "http://" + w.l.Addr().String()
	lyon := start(t, cfg)
	w.lead(lyon.Addr())
	second := pariscfg(t, lyon, "")
	paris := start(t, second)
	paris.meets(t, "lyon")
	d := lyon.put(t, megabytes(8), persistentMode)
	w.mu.Lock()
	w.stall = w.passed + 5<<20
	w.mu.Unlock()
	ended := make(chan error, 1)
	ctx := within(t)
	go func() {
		_, err := paris.bring(ctx, &droverv1.CopyDataRequest{Id: d.GetId()})
		ended <- err
	}()
	<-w.stuck
	// What the wire has passed can still be in the system's buffers.
	for have := int64(0); have < 4<<20; {
		p, err := paris.client.StatContent(ctx, &droverv1.StatContentRequest{
			Sha256:    d.GetContent().GetSha256(),
			SizeBytes: 8 << 20,
		})
		if err != nil {
			t.Fatal(err)
		}
		have = p.GetHaveBytes()
		pause(ctx, time.Millisecond)
	}
	if err := paris.stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the interrupted copy succeeded")
	}
	w.mu.Lock()
	close(w.free)
	w.passed = 0
	w.mu.Unlock()
	paris = start(t, second)
	paris.meets(t, "lyon")
	if paris.has(t, d.GetId()) {
		t.Fatal("a partial copy counts as the data")
	}
	if _, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: d.GetId()}); err != nil {
		t.Fatal(err)
	}
	if came := w.came(); came > 6<<20 {
		t.Errorf("%d bytes transferred with over 4 MiB of 8 already present", came)
	}
}

func TestEqualCopyRequestsShareOneTransfer(t *testing.T) {
	w, lyon, paris := pair(t, "")
	d := lyon.put(t, megabytes(16), persistentMode)
	w.mu.Lock()
	w.stall = w.passed + 10<<20
	w.mu.Unlock()
	first, leave := context.WithCancel(within(t))
	left, stayed := make(chan error, 1), make(chan error, 3)
	go func() {
		_, err := paris.bring(first, &droverv1.CopyDataRequest{Id: d.GetId()})
		left <- err
	}()
	<-w.stuck
	joined := make(chan bool, 1)
	ctx := within(t)
	for i := range 3 {
		go func() {
			stream, err := paris.client.CopyData(ctx, &droverv1.CopyDataRequest{Id: d.GetId()})
			if err == nil {
				for stream.Receive() {
					if i == 0 && stream.Msg().GetHaveBytes() > 0 && stream.Msg().GetData() == nil {
						select {
						case joined <- true:
						default:
						}
					}
				}
				err = errors.Join(stream.Err(), stream.Close())
			}
			stayed <- err
		}()
	}
	select {
	case <-joined: // the running transfer
	case <-ctx.Done():
		t.Fatal("the second caller receives no progress of the shared transfer")
	}
	leave()
	if err := <-left; connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("cancelled caller: %v", err)
	}
	close(w.free)
	for range 3 {
		if err := <-stayed; err != nil {
			t.Errorf("remaining caller: %v", err)
		}
	}
	// A cancelled request can waste one HTTP/2 window.
	if came := w.came(); came > 22<<20 {
		t.Errorf("%d bytes transferred for 16 MiB", came)
	}
}

func TestInvalidCopiesAreRefused(t *testing.T) {
	w, lyon, paris := pair(t, "limits: {file: 3MiB, content: 3MiB, data: 2MiB}")
	sticky, large, gone := lyon.put(t, "sticky", stickyMode), lyon.put(t, megabytes(3), persistentMode), lyon.put(t,
		"gone", persistentMode)
	if _, err := lyon.client.RemoveData(within(t),
		&droverv1.ServerServiceRemoveDataRequest{Id: gone.GetId()}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		id, from     string
		code         connect.Code
		reason, text string
	}{
		"sticky elsewhere":  {sticky.GetId(), "", connect.CodeFailedPrecondition, "sticky-data", "site lyon"},
		"no room":           {large.GetId(), "", connect.CodeResourceExhausted, "data-quota", "2097152 bytes"},
		"removed":           {gone.GetId(), "", connect.CodeNotFound, "unknown-data", "removed at"},
		"unknown data":      {newID(t), "lyon", connect.CodeNotFound, "unknown-data", "no site has"},
		"from itself":       {newID(t), "paris", connect.CodeNotFound, "unknown-data", "no site has"},
		"from unknown site": {newID(t), "oslo", connect.CodeNotFound, "unknown-site", "oslo"},
		"from invalid name": {newID(t), "../x", connect.CodeInvalidArgument, "bad-value", "from"},
		"invalid handle":    {"x", "", connect.CodeInvalidArgument, "bad-value", "id"},
	} {
		_, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: tc.id, From: tc.from})
		if code, d := detail(t, err); code != tc.code || d.GetReason() != tc.reason ||
			!strings.Contains(d.GetMessage(), tc.text) {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
	if came := w.came(); came > 1<<20 {
		t.Errorf("%d bytes transferred for refused copies", came)
	}
}

func TestCopiesBeyondTheLimitWait(t *testing.T) {
	_, lyon, paris := pair(t, "")
	var ids []string
	for i := range 2 * mostCopies {
		ids = append(ids, lyon.put(t, strings.Repeat("x", i+1), persistentMode).GetId())
	}
	paris.copies.join("none") // creates the slots
	for range mostCopies {
		paris.copies.slots <- struct{}{}
	}
	progress, ended := make(chan *droverv1.CopyDataResponse), make(chan error, len(ids))
	ctx := within(t)
	for _, id := range ids {
		go func() {
			stream, err := paris.client.CopyData(ctx, &droverv1.CopyDataRequest{Id: id})
			for first := true; err == nil && stream.Receive(); first = false {
				if first {
					progress <- stream.Msg()
				}
			}
			if err == nil {
				err = errors.Join(stream.Err(), stream.Close())
			}
			ended <- err
		}()
	}
	for range ids {
		select {
		case m := <-progress:
			if m.GetData() != nil || m.GetSizeBytes() != 0 {
				t.Errorf("progress beyond waiting: %v", m)
			}
		case <-ctx.Done():
			t.Fatal("a waiting copy reports no progress")
		}
	}
	for range mostCopies {
		paris.copies.leave()
	}
	for range ids {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestJobUsesACopyOfDataFromAnotherSite(t *testing.T) {
	_, lyon, paris := pair(t, "")
	d := lyon.put(t, "content", persistentMode)
	request := &droverv1.Request{Service: "copy", Arguments: arguments{"from": handle(d.GetId())}}
	_, err := paris.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: request})
	if _, p := detail(t, err); p.GetReason() != "unknown-data" {
		t.Fatalf("before the copy: %v", p)
	}
	if _, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: d.GetId()}); err != nil {
		t.Fatal(err)
	}
	j := paris.submit(t, request)
	paris.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got, err := paris.download(within(t), j.GetId(), "to", 0); err != nil || string(got) != "content" {
		t.Errorf("output: %q, %v", got, err)
	}
}

func TestMoveTakesDataAlongUnlessSticky(t *testing.T) {
	_, lyon, paris := pair(t, "")
	lyon.meets(t, "paris")
	block := lyon.submit(t, &droverv1.Request{Service: "block", Width: 4})
	lyon.until(t, block.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	d, sticky := lyon.put(t, "content", persistentMode), lyon.put(t, "stays", stickyMode)
	id := newID(t)
	bound := lyon.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": handle(sticky.GetId())}})
	free := lyon.submit(t, keeps(handle(d.GetId()), "to", id, persistentMode))
	back := &droverv1.MoveJobRequest{JobId: bound.GetId(), To: "paris", MinGain: seconds(-1000)}
	_, err := lyon.client.MoveJob(within(t), back)
	if _, p := detail(t, err); p.GetReason() != "not-movable" {
		t.Errorf("move of a job with sticky data: %v", p)
	}
	if _, err := lyon.client.MoveJob(within(t), &droverv1.MoveJobRequest{
		JobId: free.GetId(), To: "paris",
		MinGain: seconds(-1000),
	}); err != nil {
		t.Fatal(err)
	}
	lyon.until(t, free.GetId(), droverv1.JobState_JOB_STATE_GONE)
	paris.until(t, free.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got, err := paris.download(within(t), free.GetId(), "to", 0); err != nil || string(got) != "content" {
		t.Errorf("output: %q, %v", got, err)
	}
	if !paris.has(t, id) || lyon.has(t, id) {
		t.Error("the output is not kept where the job ran")
	}
}

package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch/exec/node/daemon"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// mode selects what the test binary runs as. "drover" in a command is the server's own
// program, here the test binary.
const mode = "SERVER_TEST_MODE"

func TestMain(m *testing.M) {
	nodetest.Main(map[string]func([]string) error{"node": beNode})
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "attempt":
			syscall.Exit(solo.Run(os.Args[2], os.Stdin, os.Stderr))
		case "hold":
			hold(os.Args[2])
		case "enter":
			enter(os.Args[2], os.Args[3:])
		case "serve":
			serve(os.Args[2:])
		}
	}
	if as := os.Getenv(mode); as != "" {
		// Exit at once: the race detector and the coverage tool would write to the
		// outputs.
		syscall.Exit(service(as, os.Args[1:]))
	}
	// Parallel tests mostly wait for processes: run more of them than there are processors.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	// A probe of a member that has left ends after its timeout.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// beNode runs the test binary as a node's daemon. Its default is two processors.
func beNode(args []string) error {
	return nodetest.Serve(args, func(ctx context.Context, o nodetest.Options) (*daemon.Daemon, error) {
		return daemon.New(ctx, daemon.Config{
			Name: o.Name, Dir: o.Dir, Listen: o.Listen, Processors: cmp.Or(o.Processors, 2),
			Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Debug}),
		})
	})
}

// catalogueYAML defines the services of these tests' sites.
const catalogueYAML = `
    - name: copy
      doc: Copies a file.
      args: [{name: from, type: file}, {name: to, type: file-out}, {name: more, type: file-out}]
      command: [drover, "{from}", "{to}"]
      env: {SERVER_TEST_MODE: copy}
      model: {fixed: {width: 1, time: 30s}}
    - name: print
      doc: Prints its arguments and exits with a code.
      args:
        - {name: text, type: string, default: hello}
        - {name: code, type: int, min: 0, max: 99, default: 0}
      command: [drover, "{text}", "{code}"]
      env: {SERVER_TEST_MODE: print}
      model: {fixed: {width: 1, time: 30s}}
    - name: block
      doc: Waits for a signal, or until a writer closes the pipe.
      args: [{name: pipe, type: string, default: ""}]
      command: [drover, "{pipe}"]
      env: {SERVER_TEST_MODE: block}
      model: {table: {1: 100s, 2: 60s, 4: 40s}}
    - name: flaky
      doc: Adds a byte to a file and fails until the file has enough; writes its output only the first time.
      args:
        - {name: book, type: string}
        - {name: good, type: int}
        - {name: out, type: file-out}
      command: [drover, "{book}", "{good}", "{out}"]
      env: {SERVER_TEST_MODE: flaky}
      model: {fixed: {width: 1, time: 30s}}
    - name: absent
      doc: Cannot be started.
      command: [/nonexistent/drover-test]
      model: {fixed: {width: 1, time: 30s}}
    - name: traps
      doc: Leaves a link and a pipe where files are expected.
      args: [{name: link, type: file-out}, {name: pipe, type: file-out}]
      command: [drover, "{link}", "{pipe}"]
      env: {SERVER_TEST_MODE: traps}
      model: {fixed: {width: 1, time: 30s}}
`

// service runs a service and returns its exit code.
func service(as string, args []string) int {
	var err error
	switch as {
	case "copy":
		var data []byte
		if data, err = os.ReadFile(args[0]); err == nil {
			err = os.WriteFile(args[1], data, 0o600)
		}
	case "print":
		if name, ok := strings.CutPrefix(args[0], "variable "); ok {
			fmt.Print(os.Getenv(name))
			return 0
		}
		fmt.Println(args[0], filepath.Base(os.Getenv("DROVER_JOB_ID")), os.Getenv("DROVER_WIDTH"))
		fmt.Fprintln(os.Stderr, "to stderr")
		code, _ := strconv.Atoi(args[1])
		return code
	case "block":
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		fmt.Println("ready")
		if args[0] == "" {
			<-stop
			return 3
		}
		in, e := os.Open(args[0])
		if err = e; e == nil {
			_, err = io.Copy(os.Stdout, in)
		}
	case "ledger":
		if err = ledger(args); err == nil {
			code, _ := strconv.Atoi(args[2])
			return code
		}
	case "flaky":
		var book []byte
		if book, err = os.ReadFile(args[0]); err != nil && !os.IsNotExist(err) {
			break
		}
		fmt.Println("try", len(book))
		err = os.WriteFile(args[0], append(book, 'x'), 0o600)
		if len(book) == 0 {
			err = errors.Join(err, os.WriteFile(args[2], []byte("of the first try"), 0o600))
		}
		if good, _ := strconv.Atoi(args[1]); err == nil && len(book) < good {
			return 75
		}
	case "traps":
		err = errors.Join(os.Symlink("/etc/hostname", args[0]), syscall.Mkfifo(args[1], 0o600))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// testSite is a server under test.
type testSite struct {
	*Server
	client droverv1connect.ServerServiceClient
	base   string       // URL
	stop   func() error // stops Run and returns its error
}

// configured returns a configuration of two nodes with two processors each.
func configured(t testing.TB, lines string) Config {
	t.Helper()
	cfg, err := ParseConfig([]byte(fmt.Sprintf(`version: 1
name: lyon
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %s
nodes: [{count: 2, processors: 2}]
on_stop: end
services:
  inline:%s
%s`, t.TempDir(), catalogueYAML, lines)), "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// start runs a server until the test ends.
func start(t testing.TB, cfg Config) *testSite {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	stopped := false
	out := &testSite{
		Server: s, base: s.URL(),
		client: droverv1connect.NewServerServiceClient(&http.Client{Transport: transport}, s.URL()),
	}
	out.stop = func() error {
		stopped = true
		transport.CloseIdleConnections() // a stopping server waits a second for them
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if !stopped {
			if err := out.stop(); err != nil {
				t.Errorf("Run: %v", err)
			}
		}
		transport.CloseIdleConnections()
	})
	return out
}

// within returns a context that bounds the waits of a test.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func newID(t testing.TB) string {
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

func text(s string) *droverv1.Value {
	return &droverv1.Value{Kind: &droverv1.Value_StringValue{StringValue: s}}
}

func number(i int64) *droverv1.Value {
	return &droverv1.Value{Kind: &droverv1.Value_IntValue{IntValue: i}}
}

func file(f *droverv1.File) *droverv1.Value {
	return &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: f}}
}

type arguments = map[string]*droverv1.Value

func seconds(n int64) *durationpb.Duration { return &durationpb.Duration{Seconds: n} }

// submit submits a request and fails the test if it is refused.
func (s *testSite) submit(t testing.TB, r *droverv1.Request) *droverv1.Job {
	t.Helper()
	res, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: r})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetJob()
}

// until watches a job until it reaches the state, and returns it.
func (s *testSite) until(t testing.TB, id string, state droverv1.JobState) *droverv1.Job {
	t.Helper()
	stream, err := s.client.WatchJob(within(t), &droverv1.WatchJobRequest{JobId: id})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var last *droverv1.Job
	for stream.Receive() {
		if last = stream.Msg().GetJob(); last.GetState() == state {
			return last
		}
	}
	t.Fatalf("job did not reach %v, last %v: %v", state, last, stream.Err())
	return nil
}

// upload sends content. A problem in the answer becomes the error of a call.
func (s *testSite) upload(ctx context.Context, data []byte) (*droverv1.File, error) {
	f := &droverv1.File{}
	text, err := s.plain(ctx, http.MethodPut, "/v1/content/"+sum(data), bytes.NewReader(data), "")
	if err == nil {
		err = protojson.Unmarshal(text, f)
	}
	return f, err
}

// download fetches an output from an offset.
func (s *testSite) download(ctx context.Context, id, argument string, offset int64) ([]byte, error) {
	return s.plain(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/outputs/"+url.PathEscape(argument), nil,
		rangeFrom(offset))
}

func rangeFrom(offset int64) string {
	if offset == 0 {
		return ""
	}
	return fmt.Sprintf("bytes=%d-", offset)
}

// plain sends a plain HTTP request. A problem in the answer becomes the error of a call.
func (s *testSite) plain(ctx context.Context, method, path string, body io.Reader, want string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return nil, err
	}
	if want != "" {
		req.Header.Set("Range", want)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 == 2 {
		return text, err
	}
	detail := &droverv1.ErrorDetail{}
	if err := protojson.Unmarshal(text, detail); err != nil {
		return nil, fmt.Errorf("%s: %q", res.Status, text)
	}
	p := rpc.ProblemOf(detail)
	return nil, rpc.WithDetail(p, p)
}

// log reads a log stream of a job to its end.
func (s *testSite) log(t testing.TB, req *droverv1.ReadLogsRequest) string {
	t.Helper()
	stream, err := s.client.ReadLogs(within(t), req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var got bytes.Buffer
	for stream.Receive() {
		got.Write(stream.Msg().GetData())
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return got.String()
}

// detail returns the code of an error and its ErrorDetail.
func detail(t testing.TB, err error) (connect.Code, *droverv1.ErrorDetail) {
	t.Helper()
	var ce *connect.Error
	if !errors.As(err, &ce) || len(ce.Details()) != 1 {
		t.Fatalf("no Connect error with one detail: %v", err)
	}
	v, err := ce.Details()[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	return ce.Code(), v.(*droverv1.ErrorDetail)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// pipe creates a named pipe. The returned function waits for a reader, writes and closes.
func pipe(t testing.TB) (name string, say func(string)) {
	name = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, func(s string) {
		t.Helper()
		said := make(chan error, 1)
		go func() { said <- os.WriteFile(name, []byte(s), 0) }()
		select {
		case err := <-said:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the pipe has no reader")
			// Release the writer for the tests that follow.
			r, err := os.OpenFile(name, os.O_RDWR, 0)
			if err == nil {
				t.Log(<-said)
				r.Close()
			}
		}
	}
}

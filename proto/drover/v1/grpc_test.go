package droverv1_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	// What the test runs is built from these: when they change, an earlier result of
	// `go test` is none.
	_ "github.com/seed-9b8f70bb/drover/agent"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	_ "github.com/seed-9b8f70bb/drover/server"
)

// These clients are gRPC's own, without generated stubs and without Connect.

// unary calls a unary method of a service, such as "AgentService/Map".
func unary[Res any](
	ctx context.Context, conn *grpc.ClientConn, method string, req any, opts ...grpc.CallOption,
) (*Res, error) {
	res := new(Res)
	return res, conn.Invoke(ctx, "/drover.v1."+method, req, res, opts...)
}

// stream opens a stream of a service. A caller that sends one message only
// passes it as first.
func stream(ctx context.Context, conn *grpc.ClientConn, method string, first any) (grpc.ClientStream, error) {
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: first == nil},
		"/drover.v1."+method)
	if err != nil || first == nil {
		return s, err
	}
	if err := s.SendMsg(first); err != nil {
		return nil, err
	}
	return s, s.CloseSend()
}

const services = `
services:
  inline:
    - name: copy
      doc: Copies a file.
      args: [{name: source, type: file}, {name: copy, type: file-out}]
      command: [sh, -c, 'cat "$0" > "$1"; echo copied', "{source}", "{copy}"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: "1"}}
`

// startGrid starts an agent and a site, and returns connections to them.
func startGrid(t *testing.T) (toAgent, toServer *grpc.ClientConn) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "drover")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "../../../cmd/drover")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build drover: %v\n%s", err, out)
	}
	agentURL, seed := start(t, program, "agent", "agent", "reallocation: {period: off}\ngossip: {bind: 127.0.0.1:0}\n")
	serverURL, _ := start(t, program, "server", "lyon", "grace: 1s\non_stop: end\nnodes: [{count: 1, processors: 2}]\n"+
		"gossip: {bind: 127.0.0.1:0, seeds: ['"+seed+"']}\ndata_dir: "+t.TempDir()+services)
	return dial(t, agentURL), dial(t, serverURL)
}

// start runs an agent or a server as a process, and returns where it is reached.
func start(t *testing.T, program, role, name, config string) (url, seed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nname: "+name+"\nlisten: 127.0.0.1:0\n"+config),
		0o600); err != nil {
		t.Fatal(err)
	}
	// It outlives the test's own context, to end by itself.
	cmd := exec.CommandContext(context.Background(), program, role, "--config", file, "--log-level", "error")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	if _, err := fmt.Fscanf(out, name+" is up at %s gossip at %s\n", &url, &seed); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.TrimSuffix(url, ","), seed
}

func dial(t *testing.T, url string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(strings.TrimPrefix(url, "http://"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestAGRPCClientReachesAgentAndServer(t *testing.T) {
	agentConn, serverConn := startGrid(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	awaitSite(ctx, t, agentConn)

	t.Run("a service is called from the upload to the result", func(t *testing.T) {
		content := bytes.Repeat([]byte("some words "), 40_000)
		request := &droverv1.Request{Service: "copy", Arguments: map[string]*droverv1.Value{
			"source": {Kind: &droverv1.Value_FileValue{FileValue: upload(ctx, t, "http://"+serverConn.Target(),
				content)}},
		}}
		id := uuid.Must(uuid.NewV7()).String()
		// Compressed both ways, as gRPC does it.
		mapped, err := unary[droverv1.MapResponse](ctx, agentConn, "AgentService/Map",
			&droverv1.MapRequest{JobId: id, Request: request}, grpc.UseCompressor(gzip.Name))
		if err != nil {
			t.Fatal(err)
		}
		if got := mapped.GetTargets()[0].GetSite(); got != "lyon" {
			t.Errorf("mapped to %q", got)
		}
		if _, err := unary[droverv1.SubmitResponse](ctx, serverConn, "ServerService/Submit",
			&droverv1.SubmitRequest{JobId: id, Request: request, Decision: mapped.GetDecision()}); err != nil {
			t.Fatal(err)
		}
		states, err := stream(ctx, serverConn, "ServerService/WatchJob", &droverv1.WatchJobRequest{JobId: id})
		if err != nil {
			t.Fatal(err)
		}
		var job *droverv1.Job
		each(t, states, func(m *droverv1.WatchJobResponse) { job = m.GetJob() })
		if job.GetState() != droverv1.JobState_JOB_STATE_DONE {
			t.Fatalf("the job ended as %v", job)
		}
		copied := get(ctx, t, "http://"+serverConn.Target()+"/v1/jobs/"+id+"/outputs/copy")
		if !bytes.Equal(copied, content) {
			t.Errorf("%d bytes came back, %d were sent", len(copied), len(content))
		}
	})

	t.Run("an error has its code and its detail", func(t *testing.T) {
		_, err := unary[droverv1.GetJobResponse](ctx, serverConn, "ServerService/GetJob",
			&droverv1.GetJobRequest{JobId: uuid.Must(uuid.NewV7()).String()})
		said := status.Convert(err)
		if said.Code() != codes.NotFound || len(said.Details()) != 1 {
			t.Fatalf("%v", err)
		}
		if d, ok := said.Details()[0].(*droverv1.ErrorDetail); !ok || d.GetReason() != "unknown-job" ||
			d.GetField() != "job_id" {
			t.Errorf("detail %v", said.Details()[0])
		}
		states, err := stream(ctx, serverConn, "ServerService/WatchJob", &droverv1.WatchJobRequest{JobId: "x"})
		if err == nil {
			err = states.RecvMsg(&droverv1.WatchJobResponse{})
		}
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("a stream: %v", err)
		}
	})

	t.Run("health and reflection name the services", func(t *testing.T) {
		for conn, want := range map[*grpc.ClientConn][]string{
			agentConn:  {"drover.v1.AgentService"},
			serverConn: {"drover.v1.PeerService", "drover.v1.ServerService"},
		} {
			for _, service := range append([]string{""}, want...) {
				said, err := grpc_health_v1.NewHealthClient(conn).Check(ctx,
					&grpc_health_v1.HealthCheckRequest{Service: service})
				if err != nil || said.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
					t.Errorf("health of %q: %v, %v", service, said, err)
				}
			}
			if got := reflected(ctx, t, conn); !slices.Equal(got, want) {
				t.Errorf("reflection lists %q, want %q", got, want)
			}
		}
		_, err := grpc_health_v1.NewHealthClient(agentConn).Check(ctx,
			&grpc_health_v1.HealthCheckRequest{Service: "drover.v1.ServerService"})
		if status.Code(err) != codes.NotFound {
			t.Errorf("health of what an agent has not: %v", err)
		}
	})
}

// awaitSite waits until the agent offers what its site does.
func awaitSite(ctx context.Context, t *testing.T, agentConn *grpc.ClientConn) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		list, err := unary[droverv1.ListServicesResponse](ctx, agentConn, "AgentService/ListServices",
			&droverv1.ListServicesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.GetServices()) > 0 {
			return
		}
		<-ticker.C
	}
}

// upload sends a file over plain HTTP.
func upload(ctx context.Context, t *testing.T, server string, content []byte) *droverv1.File {
	t.Helper()
	sum := sha256.Sum256(content)
	sha := hex.EncodeToString(sum[:])
	plain(ctx, t, http.MethodPut, server+"/v1/content/"+sha, bytes.NewReader(content))
	return &droverv1.File{Sha256: sha, SizeBytes: int64(len(content))}
}

// get reads a file over plain HTTP.
func get(ctx context.Context, t *testing.T, url string) []byte {
	t.Helper()
	return plain(ctx, t, http.MethodGet, url, nil)
}

func plain(ctx context.Context, t *testing.T, method, url string, body io.Reader) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s, %q, %v", method, url, res.Status, text, err)
	}
	return text
}

// each calls see with every message of a stream.
func each[M any](t *testing.T, stream grpc.ClientStream, see func(*M)) {
	t.Helper()
	for {
		m := new(M)
		err := stream.RecvMsg(m)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		see(m)
	}
}

// reflected lists our services by reflection, and holds that it knows what each is.
func reflected(ctx context.Context, t *testing.T, conn *grpc.ClientConn) (names []string) {
	t.Helper()
	stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(q *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(q); err != nil {
			t.Fatal(err)
		}
		a, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	list := ask(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
	})
	for _, s := range list.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
		file := ask(&grpc_reflection_v1.ServerReflectionRequest{
			MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{
				FileContainingSymbol: s.GetName(),
			},
		})
		if len(file.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("reflection does not know what %s is: %v", s.GetName(), file)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
	slices.Sort(names)
	return names
}

package agent

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

func TestAgentFindsAServerThroughGossipAndStopsGracefully(t *testing.T) {
	cfg := Default()
	cfg.Listen, cfg.Gossip.Bind = "127.0.0.1:0", "127.0.0.1:0"
	log := newJournal()
	cfg.Logger = log.logger()
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	s := (&fakeServer{name: "lyon", services: []string{"lu"}, estimate: answers(quote(1, 2, 1))}).start(t)
	g, err := gossip.Join(gossip.Config{
		Name: "lyon", Role: gossip.Server, Bind: "127.0.0.1:0", URL: s.url, API: 1, Seeds: []string{a.Seed()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	log.await(t, "site joined: site=lyon", 1)
	var transport http.Transport
	defer transport.CloseIdleConnections()
	client := droverv1connect.NewAgentServiceClient(&http.Client{Transport: &transport}, a.URL())
	res, err := client.Map(ctx, lu())
	if err != nil {
		t.Fatal(err)
	}
	if res.GetDecision().GetChosen() != "lyon" {
		t.Errorf("chose %q", res.GetDecision().GetChosen())
	}
	if err := g.Leave(ctx); err != nil {
		t.Error(err)
	}
	log.await(t, "site left: site=", 1)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if _, err := client.Map(context.Background(), lu()); err == nil {
		t.Error("a stopped agent answers")
	}
}

func TestOnePortSpeaksBothProtocolsWithHealthAndReflection(t *testing.T) {
	g := newGrid(t, nil)
	for name, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2.0": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			set(transport.Protocols)
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			res, body := healthOf(t, client, g.agent.URL(), droverv1connect.AgentServiceName)
			if body != `{"status":"SERVING_STATUS_SERVING"}` || res.Proto != name {
				t.Errorf("%s %s %s", res.Proto, res.Status, body)
			}
			_, err := connect.NewClient[emptypb.Empty, emptypb.Empty](client,
				g.agent.URL()+droverv1connect.AgentServiceMapProcedure).
				CallUnary(context.Background(), connect.NewRequest(&emptypb.Empty{}))
			if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != "request" {
				t.Errorf("Map: %v", err)
			}
			if name != "HTTP/2.0" {
				return // reflection is a stream in both directions
			}
			r := grpcreflect.NewClient(client, g.agent.URL())
			stream := r.NewStream(context.Background())
			names, err := stream.ListServices()
			if _, e := stream.Close(); e != nil || err != nil || len(names) != 1 ||
				names[0] != droverv1connect.AgentServiceName {
				t.Errorf("reflection: %v, %v, %v", names, err, e)
			}
		})
	}
}

func TestNewFailsCleanlyIfAnAddressIsInUse(t *testing.T) {
	cfg := Default()
	cfg.Listen, cfg.Gossip.Bind = "127.0.0.1:0", "127.0.0.1:0"
	first, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	taken := cfg
	taken.Listen = strings.TrimPrefix(first.URL(), "http://")
	if _, err := New(taken); err == nil || !strings.Contains(err.Error(), "listen") {
		t.Errorf("listen: %v", err)
	}
	taken = cfg
	taken.Gossip.Bind = first.Seed()
	if _, err := New(taken); err == nil || !strings.Contains(err.Error(), "gossip") {
		t.Errorf("gossip: %v", err)
	}
}

func TestAStoppingAgentReportsNotServingWhileItStillAnswers(t *testing.T) {
	cfg := Default()
	group := &fakeGroup{changed: make(chan struct{})}
	a := newAgent(cfg, hclog.NewNullLogger(), group)
	a.listener = listen(t)
	var transport http.Transport
	defer transport.CloseIdleConnections()
	var said []string
	group.leaving = func() {
		for _, service := range []string{"", droverv1connect.AgentServiceName} {
			_, body := healthOf(t, &http.Client{Transport: &transport}, "http://"+a.listener.Addr().String(), service)
			said = append(said, body)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Error(err)
	}
	no := `{"status":"SERVING_STATUS_NOT_SERVING"}`
	if d := cmp.Diff([]string{no, no}, said); d != "" {
		t.Error(d)
	}
}

// healthOf asks an agent for the health of a service; the answer is JSON.
func healthOf(t *testing.T, client *http.Client, url, service string) (res *http.Response, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/grpc.health.v1.Health/Check",
		strings.NewReader(`{"service":"`+service+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err = client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, strings.ReplaceAll(string(b), " ", "")
}

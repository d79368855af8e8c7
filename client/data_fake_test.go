package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

// depots is a grid of fakes whose sites keep data.
type depots struct {
	*world
	mu       sync.Mutex
	quota    map[string]int64 // by site
	silent   string           // a site that the agent does not reach
	at       map[string]map[string]*droverv1.Data
	content  map[string]string // by digest
	copies   []string          // site/handle that were asked for
	copying  func(nth int, stream *connect.ServerStream[droverv1.CopyDataResponse]) error
	put      func(nth int, site string) error
	puts     int
	download func(nth int, site string) (cut int)
	downs    []string // site@offset
	asked    int      // FindData and ListData of the agent
}

type (
	depotAgent struct {
		*fakeAgent
		g *depots
	}
	depotServer struct {
		*fakeServer
		g *depots
	}
)

func newDepots(t *testing.T, cfg Config) (*depots, *Client) {
	w, c := newWorld(t, cfg)
	g := &depots{
		world: w, quota: map[string]int64{"a": 1000, "b": 1000},
		at: map[string]map[string]*droverv1.Data{"a": {}, "b": {}}, content: make(map[string]string),
	}
	w.serveAgent(t, &depotAgent{w.agent, g})
	for _, s := range []*fakeServer{w.a, w.b} {
		server := &depotServer{s, g}
		path, h := droverv1connect.NewServerServiceHandler(server)
		w.net.serve(t, s.name, path, h, server)
	}
	return g, c
}

// keep puts data at a site, as if somebody had.
func (g *depots) keep(site, id, content string, of *droverv1.Data) {
	sum := sha256.Sum256([]byte(content))
	d := proto.CloneOf(of)
	if d == nil {
		d = &droverv1.Data{}
	}
	d.Id, d.Site = id, site
	d.Content = &droverv1.File{Sha256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content)), Name: d.GetContent().GetName()}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at[site][id], g.content[d.GetContent().GetSha256()] = d, content
}

func unknown(id string) error {
	return refusal(connect.CodeNotFound, &droverv1.ErrorDetail{Reason: "unknown-data", Field: "data_id", Message: "no data " + id})
}

func (a *depotAgent) ListSites(context.Context, *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	res := &droverv1.ListSitesResponse{}
	for _, site := range slices.Sorted(maps.Keys(a.g.quota)) {
		used := int64(0)
		for _, d := range a.g.at[site] {
			used += d.GetContent().GetSizeBytes()
		}
		res.Sites = append(res.Sites, &droverv1.KnownSite{
			Site:   &droverv1.Site{Name: site, Address: "http://" + site},
			Status: &droverv1.SiteStatus{Data: &droverv1.DataUsage{QuotaBytes: a.g.quota[site], UsedBytes: used}},
		})
	}
	return res, nil
}

func (a *depotAgent) missing() []*droverv1.Candidate {
	if a.g.silent == "" {
		return nil
	}
	return []*droverv1.Candidate{{Site: a.g.silent, Missing: &droverv1.Missing{Reason: droverv1.MissingReason_MISSING_REASON_TIMEOUT}}}
}

func (a *depotAgent) FindData(_ context.Context, req *droverv1.FindDataRequest) (*droverv1.FindDataResponse, error) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	a.g.asked++
	res := &droverv1.FindDataResponse{Missing: a.missing()}
	for _, site := range []string{"a", "b"} {
		if d := a.g.at[site][req.GetId()]; d != nil && site != a.g.silent {
			res.Data = append(res.Data, &droverv1.LocatedData{Data: d, Address: "http://" + site})
		}
	}
	if len(res.Data) == 0 {
		return nil, unknown(req.GetId())
	}
	return res, nil
}

// ListData has a page for each site.
func (a *depotAgent) ListData(_ context.Context, req *droverv1.AgentServiceListDataRequest) (*droverv1.AgentServiceListDataResponse, error) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	a.g.asked++
	site, next := "a", "b"
	if req.GetPageToken() != "" {
		site, next = req.GetPageToken(), ""
	}
	res := &droverv1.AgentServiceListDataResponse{NextPageToken: next, Missing: a.missing()}
	for _, id := range slices.Sorted(maps.Keys(a.g.at[site])) {
		prefix := ""
		if f := req.GetFilter(); len(f) > 3 {
			prefix = f[3:] // id=
		}
		if len(id) >= len(prefix) && id[:len(prefix)] == prefix {
			res.Data = append(res.Data, a.g.at[site][id])
		}
	}
	return res, nil
}

func (a *depotAgent) RemoveData(_ context.Context, req *droverv1.AgentServiceRemoveDataRequest) (*droverv1.AgentServiceRemoveDataResponse, error) {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	res := &droverv1.AgentServiceRemoveDataResponse{}
	for _, site := range []string{"a", "b"} {
		if a.g.at[site][req.GetId()] != nil {
			delete(a.g.at[site], req.GetId())
			res.Sites = append(res.Sites, site)
		}
	}
	return res, nil
}

func (s *depotServer) PutData(_ context.Context, req *droverv1.PutDataRequest) (*droverv1.PutDataResponse, error) {
	s.g.mu.Lock()
	s.g.puts++
	nth := s.g.puts
	s.g.mu.Unlock()
	if s.g.put != nil {
		if err := s.g.put(nth, s.name); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	content := s.uploads[req.GetData().GetContent().GetSha256()]
	s.mu.Unlock()
	s.g.keep(s.name, req.GetData().GetId(), content, req.GetData())
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return &droverv1.PutDataResponse{Data: s.g.at[s.name][req.GetData().GetId()]}, nil
}

func (s *depotServer) GetData(_ context.Context, req *droverv1.GetDataRequest) (*droverv1.GetDataResponse, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	res := &droverv1.GetDataResponse{}
	for _, id := range req.GetIds() {
		if d := s.g.at[s.name][id]; d != nil {
			res.Data = append(res.Data, d)
		}
	}
	return res, nil
}

func (s *depotServer) CopyData(_ context.Context, req *droverv1.CopyDataRequest, stream *connect.ServerStream[droverv1.CopyDataResponse]) error {
	s.g.mu.Lock()
	s.g.copies = append(s.g.copies, s.name+"/"+req.GetId())
	nth := len(s.g.copies)
	s.g.mu.Unlock()
	if s.g.copying != nil {
		if err := s.g.copying(nth, stream); err != nil {
			return err
		}
	}
	for _, site := range []string{"a", "b"} {
		s.g.mu.Lock()
		d := proto.CloneOf(s.g.at[site][req.GetId()])
		s.g.mu.Unlock()
		if d != nil {
			d.Copy = site != s.name
			s.g.keep(s.name, req.GetId(), s.g.content[d.GetContent().GetSha256()], d)
			return stream.Send(&droverv1.CopyDataResponse{Data: d})
		}
	}
	return unknown(req.GetId())
}

// ServeHTTP sends data, besides what a fakeServer does.
func (s *depotServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutPrefix(r.URL.Path, "/v1/data/")
	if !ok {
		s.fakeServer.ServeHTTP(w, r)
		return
	}
	s.g.mu.Lock()
	d := s.g.at[s.name][id]
	s.g.downs = append(s.g.downs, s.name)
	nth := len(s.g.downs)
	content := s.g.content[d.GetContent().GetSha256()]
	s.g.mu.Unlock()
	if d == nil {
		protorpc.Refuse(w, http.StatusNotFound, &problem.Problem{Reason: problem.UnknownData, Field: "data_id", Message: "no data " + id})
		return
	}
	sendFrom(w, r, func(at int64, send func(string)) error {
		rest := content[at:]
		cut := len(rest)
		if s.g.download != nil {
			cut = min(cut, s.g.download(nth, s.name))
		}
		send(rest[:cut])
		if cut < len(rest) {
			return context.Canceled
		}
		return nil
	})
}

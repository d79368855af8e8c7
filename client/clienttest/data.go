package clienttest

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

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Depots is a grid of fakes with data.
type Depots struct {
	*World
	Mu         sync.Mutex
	Quota      map[string]int64 // by site
	Silent     string           // a site that the agent does not reach
	Held       map[string]map[string]*droverv1.Data
	Content    map[string]string // by digest
	Copies     []string          // site/handle that were asked for
	OnCopy     func(nth int, stream *connect.ServerStream[droverv1.CopyDataResponse]) error
	OnPut      func(nth int, site string) error
	Puts       int
	OnDownload func(nth int, site string) (cut int)
	Downs      []string // site@offset
	Asked      int      // FindData and ListData of the agent
}

type (
	depotAgent struct {
		*Agent
		g *Depots
	}
	depotServer struct {
		*Server
		g *Depots
	}
)

// NewDepots returns a grid with data. It is called in a bubble.
func NewDepots(t *testing.T) (*Depots, http.RoundTripper) {
	w, transport := New(t)
	g := &Depots{
		World: w, Quota: map[string]int64{"a": 1000, "b": 1000},
		Held: map[string]map[string]*droverv1.Data{"a": {}, "b": {}}, Content: make(map[string]string),
	}
	w.ServeAgent(t, &depotAgent{w.Agent, g})
	for _, s := range []*Server{w.A, w.B} {
		server := &depotServer{s, g}
		path, h := droverv1connect.NewServerServiceHandler(server)
		w.Net.Serve(t, s.Name, path, h, server)
	}
	return g, transport
}

// Keep stores data at a site.
func (g *Depots) Keep(site, id, content string, of *droverv1.Data) {
	sum := sha256.Sum256([]byte(content))
	d := proto.CloneOf(of)
	if d == nil {
		d = &droverv1.Data{}
	}
	d.Id, d.Site = id, site
	d.Content = &droverv1.File{
		Sha256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content)), Name: d.GetContent().GetName(),
	}
	g.Mu.Lock()
	defer g.Mu.Unlock()
	g.Held[site][id], g.Content[d.GetContent().GetSha256()] = d, content
}

// Unknown is the refusal of an unknown handle.
func Unknown(id string) error {
	return Refusal(connect.CodeNotFound, &droverv1.ErrorDetail{
		Reason: "unknown-data", Field: "data_id", Message: "no data " + id,
	})
}

// ListSites answers the call.
func (a *depotAgent) ListSites(context.Context, *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	a.g.Mu.Lock()
	defer a.g.Mu.Unlock()
	res := &droverv1.ListSitesResponse{}
	for _, site := range slices.Sorted(maps.Keys(a.g.Quota)) {
		used := int64(0)
		for _, d := range a.g.Held[site] {
			used += d.GetContent().GetSizeBytes()
		}
		res.Sites = append(res.Sites, &droverv1.KnownSite{
			Site:   &droverv1.Site{Name: site, Address: "http://" + site},
			Status: &droverv1.SiteStatus{Data: &droverv1.DataUsage{QuotaBytes: a.g.Quota[site], UsedBytes: used}},
		})
	}
	return res, nil
}

func (a *depotAgent) missing() []*droverv1.Candidate {
	if a.g.Silent == "" {
		return nil
	}
	return []*droverv1.Candidate{
		{Site: a.g.Silent, Missing: &droverv1.Missing{Reason: droverv1.MissingReason_MISSING_REASON_TIMEOUT}},
	}
}

// FindData answers the call.
func (a *depotAgent) FindData(_ context.Context, req *droverv1.FindDataRequest) (*droverv1.FindDataResponse, error) {
	a.g.Mu.Lock()
	defer a.g.Mu.Unlock()
	a.g.Asked++
	res := &droverv1.FindDataResponse{Missing: a.missing()}
	for _, site := range []string{"a", "b"} {
		if d := a.g.Held[site][req.GetId()]; d != nil && site != a.g.Silent {
			res.Data = append(res.Data, &droverv1.LocatedData{Data: d, Address: "http://" + site})
		}
	}
	if len(res.Data) == 0 {
		return nil, Unknown(req.GetId())
	}
	return res, nil
}

// ListData has a page for each site.
func (a *depotAgent) ListData(
	_ context.Context, req *droverv1.AgentServiceListDataRequest,
) (*droverv1.AgentServiceListDataResponse, error) {
	a.g.Mu.Lock()
	defer a.g.Mu.Unlock()
	a.g.Asked++
	site, next := "a", "b"
	if req.GetPageToken() != "" {
		site, next = req.GetPageToken(), ""
	}
	res := &droverv1.AgentServiceListDataResponse{NextPageToken: next, Missing: a.missing()}
	for _, id := range slices.Sorted(maps.Keys(a.g.Held[site])) {
		prefix := ""
		if f := req.GetFilter(); len(f) > 3 {
			prefix = f[3:] // id=
		}
		if len(id) >= len(prefix) && id[:len(prefix)] == prefix {
			res.Data = append(res.Data, a.g.Held[site][id])
		}
	}
	return res, nil
}

// RemoveData answers the call.
func (a *depotAgent) RemoveData(
	_ context.Context, req *droverv1.AgentServiceRemoveDataRequest,
) (*droverv1.AgentServiceRemoveDataResponse, error) {
	a.g.Mu.Lock()
	defer a.g.Mu.Unlock()
	res := &droverv1.AgentServiceRemoveDataResponse{}
	for _, site := range []string{"a", "b"} {
		if a.g.Held[site][req.GetId()] != nil {
			delete(a.g.Held[site], req.GetId())
			res.Sites = append(res.Sites, site)
		}
	}
	return res, nil
}

// PutData answers the call.
func (s *depotServer) PutData(_ context.Context, req *droverv1.PutDataRequest) (*droverv1.PutDataResponse, error) {
	s.g.Mu.Lock()
	s.g.Puts++
	nth := s.g.Puts
	s.g.Mu.Unlock()
	if s.g.OnPut != nil {
		if err := s.g.OnPut(nth, s.Name); err != nil {
			return nil, err
		}
	}
	s.Mu.Lock()
	content := s.Uploads[req.GetData().GetContent().GetSha256()]
	s.Mu.Unlock()
	s.g.Keep(s.Name, req.GetData().GetId(), content, req.GetData())
	s.g.Mu.Lock()
	defer s.g.Mu.Unlock()
	return &droverv1.PutDataResponse{Data: s.g.Held[s.Name][req.GetData().GetId()]}, nil
}

// GetData answers the call.
func (s *depotServer) GetData(_ context.Context, req *droverv1.GetDataRequest) (*droverv1.GetDataResponse, error) {
	s.g.Mu.Lock()
	defer s.g.Mu.Unlock()
	res := &droverv1.GetDataResponse{}
	for _, id := range req.GetIds() {
		if d := s.g.Held[s.Name][id]; d != nil {
			res.Data = append(res.Data, d)
		}
	}
	return res, nil
}

// CopyData answers the call.
func (s *depotServer) CopyData(
	_ context.Context, req *droverv1.CopyDataRequest, stream *connect.ServerStream[droverv1.CopyDataResponse],
) error {
	s.g.Mu.Lock()
	s.g.Copies = append(s.g.Copies, s.Name+"/"+req.GetId())
	nth := len(s.g.Copies)
	s.g.Mu.Unlock()
	if s.g.OnCopy != nil {
		if err := s.g.OnCopy(nth, stream); err != nil {
			return err
		}
	}
	for _, site := range []string{"a", "b"} {
		s.g.Mu.Lock()
		d := proto.CloneOf(s.g.Held[site][req.GetId()])
		s.g.Mu.Unlock()
		if d != nil {
			d.Copy = site != s.Name
			s.g.Keep(s.Name, req.GetId(), s.g.Content[d.GetContent().GetSha256()], d)
			return stream.Send(&droverv1.CopyDataResponse{Data: d})
		}
	}
	return Unknown(req.GetId())
}

// ServeHTTP sends data, besides what a fakeServer does.
func (s *depotServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutPrefix(r.URL.Path, "/v1/data/")
	if !ok {
		s.Server.ServeHTTP(w, r)
		return
	}
	s.g.Mu.Lock()
	d := s.g.Held[s.Name][id]
	s.g.Downs = append(s.g.Downs, s.Name)
	nth := len(s.g.Downs)
	content := s.g.Content[d.GetContent().GetSha256()]
	s.g.Mu.Unlock()
	if d == nil {
		protorpc.Refuse(w, http.StatusNotFound, &problem.Problem{
			Reason: problem.UnknownData, Field: "data_id", Message: "no data " + id,
		})
		return
	}
	sendFrom(w, r, func(at int64, send func(string)) error {
		rest := content[at:]
		cut := len(rest)
		if s.g.OnDownload != nil {
			cut = min(cut, s.g.OnDownload(nth, s.Name))
		}
		send(rest[:cut])
		if cut < len(rest) {
			return context.Canceled
		}
		return nil
	})
}

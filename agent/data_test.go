package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// offers makes a server that runs lu at once, and has some data.
func offers(name string, have ...*droverv1.Data) *fakeServer {
	return &fakeServer{
		name: name, services: []string{"lu"}, estimate: answers(quote(0, 100, 1)), data: fakeData{have: have},
	}
}

func data(id string, size int64, mode droverv1.DataMode) *droverv1.Data {
	return &droverv1.Data{Id: id, Content: &droverv1.File{Sha256: "of " + id, SizeBytes: size}, Mode: mode}
}

func copied(d *droverv1.Data) *droverv1.Data {
	return &droverv1.Data{Id: d.GetId(), Content: d.GetContent(), Mode: d.GetMode(), Copy: true}
}

// using is a request for lu with handles and a file of the client.
func using(file int64, ids ...string) *droverv1.MapRequest {
	r := lu()
	r.Request.Arguments = map[string]*droverv1.Value{
		"own": {Kind: &droverv1.Value_FileValue{FileValue: &droverv1.File{SizeBytes: file}}},
	}
	for i, id := range ids {
		content := &droverv1.File{DataId: id}
		v := &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: content}}
		if i%2 == 1 {
			v = &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{Content: content}}}
		}
		r.Request.Arguments["stored "+id] = v
	}
	return r
}

const (
	persistentMode = droverv1.DataMode_DATA_MODE_PERSISTENT
	stickyMode     = droverv1.DataMode_DATA_MODE_STICKY
)

// slow is a network of a megabyte a second.
func slow(c *Config) {
	c.Patience = 500 * time.Millisecond
	c.Network = Network{Bandwidth: 1e6, Links: []Link{{From: "near", To: "other", Bandwidth: 2e6}}}
}

func TestARequestGoesToTheSiteThatHasItsData(t *testing.T) {
	a, b := data("a", 8e6, persistentMode), data("b", 2e6, persistentMode)
	has, other := offers("has", a, b).start(t), offers("other").start(t)
	g := newGrid(t, slow, has, other,
		(&fakeServer{name: "near", data: fakeData{have: []*droverv1.Data{copied(a)}}}).start(t))
	res, err := g.client.Map(context.Background(), using(3e6, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"has wait 3s transfer 3s done 1m43s margin 0s",
		"other wait 9s transfer 9s done 1m49s margin 6s", // 3 of the client, 4 from near, 2 from has
	}
	if d := cmp.Diff(want, summary(res.GetDecision())); d != "" {
		t.Error(d)
	}
	if d := other.asked[0].GetNotBefore().AsDuration(); d != 9*time.Second {
		t.Errorf("other was asked for a start after %v", d)
	}
	args := other.asked[0].GetRequest().GetArguments()
	if f := args["stored a"].GetFileValue(); f.GetSha256() != "of a" || f.GetSizeBytes() != 8e6 ||
		f.GetDataId() != "a" {
		t.Errorf("other got a: %v", f)
	}
	if f := args["stored b"].GetArrayValue().GetContent(); f.GetSha256() != "of b" || f.GetSizeBytes() != 2e6 {
		t.Errorf("other got b: %v", f)
	}
}

func TestStickyDataRuleOtherSitesOut(t *testing.T) {
	g := newGrid(t, slow, offers("has", data("a", 1, stickyMode)).start(t), offers("other").start(t))
	res, err := g.client.Map(context.Background(), using(0, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"has wait 0s transfer 0s done 1m40s margin 0s", "other refused sticky-data"},
		summary(res.GetDecision())); d != "" {
		t.Error(d)
	}
}

func TestARefusalOfTheSiteWithTheStickyDataIsTheReason(t *testing.T) {
	refusal := &droverv1.ErrorDetail{
		Reason: "too-wide", Field: "request.width", Accepted: "1..4", Message: "8 processors",
	}
	has := offers("has", data("a", 1, stickyMode))
	has.estimate = answers(&droverv1.Quote{Refusal: refusal})
	g := newGrid(t, slow, has.start(t), offers("other").start(t))
	_, err := g.client.Map(context.Background(), using(0, "a"))
	if _, d := detail(t, err); d.GetReason() != "too-wide" {
		t.Errorf("%v", d)
	}
	g = newGrid(t, slow,
		(&fakeServer{name: "store", data: fakeData{have: []*droverv1.Data{data("a", 1, stickyMode)}}}).start(t),
		offers("other").start(t))
	_, err = g.client.Map(context.Background(), using(0, "a"))
	if code, d := detail(t, err); code != connect.CodeFailedPrecondition || d.GetReason() != "sticky-data" ||
		!strings.Contains(d.GetMessage(), "store") {
		t.Errorf("%v %v", code, d)
	}
}

func TestASilentSiteIsNoSourceOfDataAndIsInTheRecord(t *testing.T) {
	a := data("a", 4e6, persistentMode)
	never := make(chan struct{})
	near := (&fakeServer{name: "near", data: fakeData{have: []*droverv1.Data{a}, hung: never}}).start(t)
	g := newGrid(t, slow, offers("has", a).start(t), offers("other").start(t), near)
	res, err := g.client.Map(context.Background(), using(0, "a"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"has wait 0s transfer 0s done 1m40s margin 0s", "other wait 4s transfer 4s done 1m44s margin 4s",
		"near timeout timeout",
	}
	if d := cmp.Diff(want, summary(res.GetDecision())); d != "" {
		t.Error(d)
	}
	if c := res.GetDecision().GetCandidates()[2]; !strings.Contains(c.GetMissing().GetDetail().GetMessage(),
		"source of data") {
		t.Errorf("near: %v", c)
	}
	_, err = g.client.Map(context.Background(), using(0, "b"))
	if _, d := detail(t, err); d.GetReason() != "unreachable" || !d.GetRetryable() ||
		!strings.Contains(d.GetMessage(), "near") {
		t.Errorf("data that the silent site may have: %v", d)
	}
}

func TestUnknownDataAreNamedInTheError(t *testing.T) {
	had := offers("had", data("a", 1, persistentMode))
	had.data.gone = map[string]string{"b": "data b were evicted at noon"}
	g := newGrid(t, slow, had.start(t), offers("other").start(t))
	for name, call := range map[string]func() (string, error){
		"map": func() (string, error) {
			_, err := g.client.Map(context.Background(), using(0, "a", "b"))
			return "request.arguments.stored b", err
		},
		"find": func() (string, error) {
			_, err := g.client.FindData(context.Background(), &droverv1.FindDataRequest{Id: "b"})
			return "id", err
		},
	} {
		field, err := call()
		code, d := detail(t, err)
		if code != connect.CodeNotFound || d.GetReason() != "unknown-data" || d.GetField() != field ||
			d.GetRetryable() ||
			!strings.Contains(d.GetMessage(), "data b") || !strings.Contains(d.GetMessage(), "evicted at noon") {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
	_, err := g.client.Map(context.Background(), using(0, "no/handle"))
	if _, d := detail(t, err); d.GetReason() != "bad-value" {
		t.Errorf("no handle: %v", d)
	}
}

func TestFindDataListsOriginalsBeforeCopies(t *testing.T) {
	a := data("a", 1, persistentMode)
	g := newGrid(t, slow, offers("b", copied(a)).start(t), offers("c", a).start(t), offers("a", copied(a)).start(t),
		offers("d").start(t))
	res, err := g.client.FindData(context.Background(), &droverv1.FindDataRequest{Id: "a"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range res.GetData() {
		if got = append(got, d.GetData().GetSite()); !strings.HasPrefix(d.GetAddress(), "http://") {
			t.Errorf("address %q", d.GetAddress())
		}
	}
	if d := cmp.Diff([]string{"c", "a", "b"}, got); d != "" {
		t.Error(d)
	}
}

func TestDataOfAllSitesAreListedInPages(t *testing.T) {
	servers := []*fakeServer{
		offers("a", data("1", 1, persistentMode), data("3", 1, persistentMode), data("5", 1, persistentMode)),
		offers("b"), offers("c", data("2", 1, persistentMode)), offers("d", data("4", 1, persistentMode),
			data("6", 1, persistentMode)),
	}
	for _, s := range servers {
		s.start(t)
	}
	g := newGrid(t, slow, servers...)
	want := []string{"a1", "a3", "a5", "c2", "d4", "d6"}
	for size := int32(1); size < 8; size++ {
		var got []string
		for token := ""; ; {
			res, err := g.client.ListData(context.Background(), &droverv1.AgentServiceListDataRequest{
				PageSize: size, PageToken: token,
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.GetData()) > int(size) {
				t.Errorf("page of %d, asked for %d", len(res.GetData()), size)
			}
			for _, d := range res.GetData() {
				got = append(got, d.GetSite()+d.GetId())
			}
			if token = res.GetNextPageToken(); token == "" {
				break
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pages of %d: %s", size, d)
		}
	}
	res, err := g.client.ListData(context.Background(), &droverv1.AgentServiceListDataRequest{Filter: "site=c"})
	if err != nil || len(res.GetData()) != 1 {
		t.Errorf("of one site: %v, %v", res, err)
	}
	for _, filter := range []string{"size=3", "mode=eternal"} {
		_, err = g.client.ListData(context.Background(), &droverv1.AgentServiceListDataRequest{Filter: filter})
		if code, _ := detail(t, err); code != connect.CodeInvalidArgument {
			t.Errorf("filter %s: %v", filter, err)
		}
	}
	servers[2].stop()
	res, err = g.client.ListData(context.Background(), &droverv1.AgentServiceListDataRequest{})
	if err != nil || len(res.GetData()) != 5 || len(res.GetMissing()) != 1 || res.GetMissing()[0].GetSite() != "c" {
		t.Errorf("without c: %v, %v", res, err)
	}
}

func TestRemoveDataRemovesEverywhereOrNamesSilentSites(t *testing.T) {
	a := data("a", 1, persistentMode)
	sick := offers("b", copied(a))
	sick.data.fail = wireError(&problem.Problem{Reason: problem.DiskFull, Message: "full", Retryable: true})
	g := newGrid(t, slow, offers("a", a).start(t), sick.start(t), offers("c").start(t))
	_, err := g.client.RemoveData(context.Background(), &droverv1.AgentServiceRemoveDataRequest{Id: "a"})
	if _, d := detail(t, err); d.GetReason() != "unreachable" || !d.GetRetryable() ||
		!strings.Contains(d.GetMessage(), "b: full") || !strings.Contains(d.GetMessage(), "removed at a") {
		t.Errorf("%v", d)
	}
	sick.data.mu.Lock()
	sick.data.fail = nil
	sick.data.mu.Unlock()
	for _, want := range [][]string{{"b"}, nil} {
		res, err := g.client.RemoveData(context.Background(), &droverv1.AgentServiceRemoveDataRequest{Id: "a"})
		if d := cmp.Diff(want, res.GetSites()); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
	}
}

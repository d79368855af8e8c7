package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/uuid"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

const (
	volatileMode   = droverv1.DataMode_DATA_MODE_VOLATILE
	stickyMode     = droverv1.DataMode_DATA_MODE_STICKY
	persistentMode = droverv1.DataMode_DATA_MODE_PERSISTENT
)

// put uploads content and stores it under a new handle.
func (s *testSite) put(t testing.TB, content string, mode droverv1.DataMode) *droverv1.Data {
	t.Helper()
	f, err := s.upload(within(t), []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.client.PutData(within(t), &droverv1.PutDataRequest{Data: &droverv1.Data{
		Id: newID(t), Content: f,
		Mode: mode, Owner: "ann",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetData()
}

// has reports whether the site has the data.
func (s *testSite) has(t testing.TB, id string) bool {
	t.Helper()
	res, err := s.client.GetData(within(t), &droverv1.GetDataRequest{Ids: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	return len(res.GetData()) > 0
}

// fetch downloads data from an offset.
func (s *testSite) fetch(ctx context.Context, id string, offset int64) (string, error) {
	text, err := s.plain(ctx, http.MethodGet, "/v1/data/"+id, nil, rangeFrom(offset))
	return string(text), err
}

func handle(id string) *droverv1.Value { return file(&droverv1.File{DataId: id}) }

func TestHandlesSurviveARestart(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	content := strings.Repeat("drover\x00\n", 40_000)
	d := s.put(t, content, persistentMode)
	if d.GetSite() != "lyon" || d.GetContent().GetSizeBytes() != int64(len(content)) ||
		d.GetContent().GetSha256() != sum([]byte(content)) ||
		d.GetMode() != persistentMode || d.GetOwner() != "ann" || d.GetCopy() || d.GetPutAt() == nil ||
		d.GetUsedAt() == nil {
		t.Errorf("data: %v", d)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	if got, err := s.fetch(within(t), d.GetId(), 5); err != nil || got != content[5:] {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	again, err := s.client.PutData(within(t), &droverv1.PutDataRequest{Data: d}) // as if the answer was lost
	if err != nil || again.GetData().GetPutAt().AsTime() != d.GetPutAt().AsTime() {
		t.Errorf("repeated PutData: %v, %v", again, err)
	}
	list, err := s.client.ListData(within(t),
		&droverv1.ServerServiceListDataRequest{Filter: "owner=ann mode=persistent id=" + d.GetId()[:13]})
	if err != nil || len(list.GetData()) != 1 || list.GetData()[0].GetId() != d.GetId() {
		t.Errorf("list: %v, %v", list, err)
	}
	status, err := s.client.GetStatus(within(t), &droverv1.GetStatusRequest{})
	if u := status.GetStatus().GetData(); err != nil || u.GetHandles() != 1 ||
		u.GetUsedBytes() != int64(len(content)) || u.GetQuotaBytes() != 16<<30 {
		t.Errorf("usage: %v, %v", u, err)
	}
	removed, err := s.client.RemoveData(within(t), &droverv1.ServerServiceRemoveDataRequest{Id: d.GetId()})
	if err != nil || removed.GetData().GetId() != d.GetId() || s.has(t, d.GetId()) {
		t.Errorf("RemoveData: %v, %v", removed, err)
	}
	if removed, err = s.client.RemoveData(within(t),
		&droverv1.ServerServiceRemoveDataRequest{Id: d.GetId()}); err != nil || removed.GetData() != nil {
		t.Errorf("repeated RemoveData: %v, %v", removed, err)
	}
	_, err = s.fetch(within(t), d.GetId(), 0)
	if code, p := detail(t, err); code != connect.CodeNotFound || p.GetReason() != "unknown-data" ||
		!strings.Contains(p.GetMessage(), "removed at") {
		t.Errorf("download after RemoveData: %v %v", code, p)
	}
}

func TestDataAreListedInPages(t *testing.T) {
	s := start(t, configured(t, ""))
	var want []string
	for i := range 5 {
		want = append(want, s.put(t, fmt.Sprint(i), persistentMode).GetId())
	}
	var got []string
	for token := ""; ; {
		res, err := s.client.ListData(within(t), &droverv1.ServerServiceListDataRequest{PageSize: 2, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range res.GetData() {
			got = append(got, d.GetId())
		}
		if token = res.GetNextPageToken(); token == "" {
			break
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestInvalidDataRequestsAreRefused(t *testing.T) {
	s := start(t, configured(t, "limits: {file: 100B, content: 100B, data: 100B, data_owner: 50B}"))
	f, err := s.upload(within(t), make([]byte, 24))
	if err != nil {
		t.Fatal(err)
	}
	taken := s.put(t, "taken", persistentMode)
	put := func(change func(*droverv1.Data)) func() error {
		return func() error {
			d := &droverv1.Data{Id: newID(t), Content: &droverv1.File{Sha256: f.GetSha256()}}
			change(d)
			_, err := s.client.PutData(within(t), &droverv1.PutDataRequest{Data: d})
			return err
		}
	}
	get := func(ids ...string) func() error {
		return func() error {
			_, err := s.client.GetData(within(t), &droverv1.GetDataRequest{Ids: ids})
			return err
		}
	}
	list := func(r *droverv1.ServerServiceListDataRequest) func() error {
		return func() error {
			_, err := s.client.ListData(within(t), r)
			return err
		}
	}
	sticky := func() error {
		for _, text := range []string{strings.Repeat("a", 30), strings.Repeat("b", 30)} {
			f, err := s.upload(within(t), []byte(text))
			if err != nil {
				return err
			}
			if err := put(func(d *droverv1.Data) { d.Content, d.Mode, d.Owner = f, stickyMode, "bob" })(); err != nil {
				return err
			}
		}
		return nil
	}
	const float = droverv1.ElementType_ELEMENT_TYPE_FLOAT64
	for name, tc := range map[string]struct {
		call          func() error
		code          connect.Code
		reason, field string
	}{
		"no data": {func() error {
			_, err := s.client.PutData(within(t), &droverv1.PutDataRequest{})
			return err
		}, connect.CodeInvalidArgument, "bad-value", "data.id"},
		"no handle": {
			put(func(d *droverv1.Data) { d.Id = "../../etc/passwd" }),
			connect.CodeInvalidArgument, "bad-value", "data.id",
		},
		"no hash": {
			put(func(d *droverv1.Data) { d.Content = nil }), connect.CodeInvalidArgument,
			"bad-value", "data.content.sha256",
		},
		"content not here": {
			put(func(d *droverv1.Data) { d.Content.Sha256 = sum([]byte("never")) }),
			connect.CodeNotFound, "unknown-content", "data.content.sha256",
		},
		"another size": {
			put(func(d *droverv1.Data) { d.Content.SizeBytes = 25 }),
			connect.CodeInvalidArgument, "bad-value", "data.content.size_bytes",
		},
		"a negative size": {
			put(func(d *droverv1.Data) { d.Content.SizeBytes = -1 }),
			connect.CodeInvalidArgument, "bad-value", "data.content.size_bytes",
		},
		"a path for a name": {
			put(func(d *droverv1.Data) { d.Content.Name = "../x" }),
			connect.CodeInvalidArgument, "bad-value", "data.content.name",
		},
		"unknown mode": {
			put(func(d *droverv1.Data) { d.Mode = 99 }), connect.CodeInvalidArgument,
			"bad-value", "data.mode",
		},
		"control character in owner": {
			put(func(d *droverv1.Data) { d.Owner = "\a" }), connect.CodeInvalidArgument,
			"bad-value", "data.owner",
		},
		"elements only": {
			put(func(d *droverv1.Data) { d.Element = float }), connect.CodeInvalidArgument,
			"wrong-dimensions", "data.dimensions",
		},
		"dimensions only": {
			put(func(d *droverv1.Data) { d.Dimensions = []int64{24} }),
			connect.CodeInvalidArgument, "wrong-dimensions", "data.dimensions",
		},
		"too few elements": {
			put(func(d *droverv1.Data) { d.Element, d.Dimensions = float, []int64{2} }),
			connect.CodeInvalidArgument, "wrong-dimensions", "data.dimensions",
		},
		"a cube": {
			put(func(d *droverv1.Data) { d.Element, d.Dimensions = float, []int64{1, 1, 3} }),
			connect.CodeInvalidArgument, "wrong-dimensions", "data.dimensions",
		},
		"negative dimensions": {
			put(func(d *droverv1.Data) { d.Element, d.Dimensions = float, []int64{-1, -3} }),
			connect.CodeInvalidArgument, "wrong-dimensions", "data.dimensions",
		},
		"a handle in use": {
			put(func(d *droverv1.Data) { d.Id = taken.GetId() }), connect.CodeAlreadyExists,
			"data-conflict", "data.id",
		},
		"more than the quota":         {sticky, connect.CodeResourceExhausted, "data-quota", "data.content.size_bytes"},
		"query for an invalid handle": {get(newID(t), "x"), connect.CodeInvalidArgument, "bad-value", "ids[1]"},
		"query for too many handles": {
			get(make([]string, 1001)...), connect.CodeInvalidArgument, "out-of-range", "ids",
		},
		"filter by an unknown key": {
			list(&droverv1.ServerServiceListDataRequest{Filter: "size=3"}),
			connect.CodeInvalidArgument, "bad-value", "filter",
		},
		"filter by an unknown mode": {
			list(&droverv1.ServerServiceListDataRequest{Filter: "mode=eternal"}),
			connect.CodeInvalidArgument, "bad-value", "filter",
		},
		"invalid page token": {
			list(&droverv1.ServerServiceListDataRequest{PageToken: "?"}),
			connect.CodeInvalidArgument, "bad-value", "page_token",
		},
		"a page too large": {
			list(&droverv1.ServerServiceListDataRequest{PageSize: 1001}),
			connect.CodeInvalidArgument, "out-of-range", "page_size",
		},
		"an offset behind the content": {
			func() error { _, err := s.fetch(within(t), taken.GetId(), 1000); return err },
			connect.CodeInvalidArgument, "out-of-range", "Range",
		},
		"removal of an invalid handle": {func() error {
			_, err := s.client.RemoveData(within(t), &droverv1.ServerServiceRemoveDataRequest{Id: "x"})
			return err
		}, connect.CodeInvalidArgument, "bad-value", "id"},
	} {
		code, d := detail(t, tc.call())
		if code != tc.code || d.GetReason() != tc.reason || d.GetField() != tc.field || d.GetAccepted() == "" ||
			d.GetMessage() == "" {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
}

func TestEvictedDataAreReported(t *testing.T) {
	s := start(t, configured(t, "limits: {file: 100B, content: 100B, data: 10B}"))
	first := s.put(t, "ten bytes.", persistentMode)
	s.put(t, "ten bytes!", persistentMode)
	res, err := s.client.GetData(within(t), &droverv1.GetDataRequest{Ids: []string{first.GetId()}})
	if err != nil || len(res.GetData()) != 0 || len(res.GetGone()) != 1 ||
		!strings.Contains(res.GetGone()[0].GetMessage(), "to make room, at site lyon") {
		t.Errorf("GetData: %v, %v", res, err)
	}
	_, err = s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId: newID(t), Request: &droverv1.Request{
			Service: "copy", Arguments: arguments{"from": handle(first.GetId())},
		},
	})
	if code, d := detail(t, err); code != connect.CodeNotFound || d.GetReason() != "unknown-data" ||
		d.GetField() != "request.arguments.from" ||
		!strings.Contains(d.GetMessage(), "evicted at") || !strings.Contains(d.GetHint(), "CopyData") {
		t.Errorf("Submit with evicted data: %v %v", code, d)
	}
}

func TestServerStartsDespiteADamagedHandle(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	d, lost := s.put(t, "damaged", persistentMode), s.put(t, "lost", persistentMode)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	sha := lost.GetContent().GetSha256()
	err := os.WriteFile(filepath.Join(cfg.DataDir, "depot", "data", d.GetId()+".json"), []byte("x"), 0o600)
	if err == nil {
		err = os.Remove(filepath.Join(cfg.DataDir, "content", sha[:2], sha))
	}
	if err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	if s.has(t, d.GetId()) || s.has(t, lost.GetId()) {
		t.Error("the damaged data are served")
	}
}

func TestDataOverPlainHTTP(t *testing.T) {
	s := start(t, configured(t, ""))
	content := strings.Repeat("drover\x00\n", 1000)
	digest := sum([]byte(content))
	if a := ask(t, "PUT", s.URL()+"/v1/content/"+digest, strings.NewReader(content)); a.status != 201 {
		t.Fatalf("put: %+v", a)
	}
	id := uuid.Must(uuid.NewV7()).String()
	if _, err := s.client.PutData(within(t), &droverv1.PutDataRequest{Data: &droverv1.Data{
		Id:      id,
		Content: &droverv1.File{Sha256: digest},
	}}); err != nil {
		t.Fatal(err)
	}
	url := s.URL() + "/v1/data/" + id
	if a := ask(t, "GET", url, nil); a.status != 200 || a.body != content || a.header.Get("ETag") != `"`+digest+`"` {
		t.Errorf("all: %d, %d bytes, %v", a.status, len(a.body), a.header)
	}
	if a := ask(t, "GET", url, nil, "Range", "bytes=7990-"); a.status != 206 || a.body != content[7990:] {
		t.Errorf("range at the end: %+v", a)
	}
	if a := ask(t, "GET", url, nil, "Range", "bytes=8000-"); a.status != 416 ||
		a.header.Get("Content-Range") != "bytes */8000" {
		t.Errorf("range past the end: %+v", a)
	}
	if a := ask(t, "GET", url, nil, "If-None-Match", `"`+digest+`"`); a.status != 304 {
		t.Errorf("unchanged content: %+v", a)
	}
	other := uuid.Must(uuid.NewV7()).String()
	if a := ask(t, "GET", s.URL()+"/v1/data/"+other, nil); a.status != 404 || a.reason(t) != "unknown-data id" {
		t.Errorf("changed content: %+v", a)
	}
	for _, bad := range []string{"1", strings.ToUpper(id), "..%2f..%2fetc%2fpasswd"} {
		if a := ask(t, "GET", s.URL()+"/v1/data/"+bad, nil); a.status != 400 || a.reason(t) != "bad-value id" {
			t.Errorf("%s: %+v", bad, a)
		}
	}
}

package server

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestDataTravelOverPlainHTTP(t *testing.T) {
	s := start(t, configured(t, ""))
	content := strings.Repeat("drover\x00\n", 1000)
	digest := sum([]byte(content))
	if a := ask(t, "PUT", s.URL()+"/v1/content/"+digest, strings.NewReader(content)); a.status != 201 {
		t.Fatalf("put: %+v", a)
	}
	id := uuid.Must(uuid.NewV7()).String()
	if _, err := s.client.PutData(within(t), &droverv1.PutDataRequest{Data: &droverv1.Data{Id: id, Content: &droverv1.File{Sha256: digest}}}); err != nil {
		t.Fatal(err)
	}
	url := s.URL() + "/v1/data/" + id
	if a := ask(t, "GET", url, nil); a.status != 200 || a.body != content || a.header.Get("ETag") != `"`+digest+`"` {
		t.Errorf("all: %d, %d bytes, %v", a.status, len(a.body), a.header)
	}
	if a := ask(t, "GET", url, nil, "Range", "bytes=7990-"); a.status != 206 || a.body != content[7990:] {
		t.Errorf("the end: %+v", a)
	}
	if a := ask(t, "GET", url, nil, "Range", "bytes=8000-"); a.status != 416 || a.header.Get("Content-Range") != "bytes */8000" {
		t.Errorf("behind the end: %+v", a)
	}
	if a := ask(t, "GET", url, nil, "If-None-Match", `"`+digest+`"`); a.status != 304 {
		t.Errorf("what is known already: %+v", a)
	}
	other := uuid.Must(uuid.NewV7()).String()
	if a := ask(t, "GET", s.URL()+"/v1/data/"+other, nil); a.status != 404 || a.reason(t) != "unknown-data id" {
		t.Errorf("others: %+v", a)
	}
	for _, bad := range []string{"1", strings.ToUpper(id), "..%2f..%2fetc%2fpasswd"} {
		if a := ask(t, "GET", s.URL()+"/v1/data/"+bad, nil); a.status != 400 || a.reason(t) != "bad-value id" {
			t.Errorf("%s: %+v", bad, a)
		}
	}
}

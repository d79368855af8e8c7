package server

import (
	"bytes"
	"net/http"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// The disk runs full in the middle of a file, and not in the middle of a record.
func TestAFileForWhichTheDiskHasNoRoomIsRefusedAndLeavesNothing(t *testing.T) {
	d := onSmallDisk(t, "")
	d.run()
	put := func(data []byte) (int, *droverv1.ErrorDetail) {
		req, err := http.NewRequestWithContext(within(t), http.MethodPut, "http://"+d.address()+"/v1/content/"+sum(data), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var text bytes.Buffer
		_, _ = text.ReadFrom(res.Body)
		problem := &droverv1.ErrorDetail{}
		if res.StatusCode >= 300 {
			if err := protojson.Unmarshal(text.Bytes(), problem); err != nil {
				t.Errorf("%s: %v", text.Bytes(), err)
			}
		}
		return res.StatusCode, problem
	}
	large := bytes.Repeat([]byte("room "), 2*diskSize/5)
	if status, p := put(large); status != http.StatusInsufficientStorage || p.GetReason() != "disk-full" || !p.GetRetryable() {
		t.Errorf("PUT: %d, %v", status, p)
	}
	s := &testSite{client: d.client}
	_, err := s.upload(within(t), large, &droverv1.UploadRequest{Sha256: sum(large), SizeBytes: int64(len(large))})
	if code, p := detail(t, err); code != connect.CodeResourceExhausted || p.GetReason() != "disk-full" {
		t.Errorf("Upload: %v, %v", code, p)
	}
	if status, p := put([]byte("small")); status != http.StatusCreated {
		t.Errorf("afterwards: %d, %v", status, p)
	}
	http.DefaultClient.CloseIdleConnections()
}

package server

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// begin uploads the beginning of some content to a site, like an interrupted upload.
func (p *processSite) begin(content, beginning []byte) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(within(p.t), http.MethodPut,
		"http://"+p.address()+"/v1/content/"+sum(content), bytes.NewReader(beginning))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(beginning)-1, len(content)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		p.t.Fatalf("status %s", res.Status)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestInputTransferOfAMoveResumes(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue(payload)
	half := payload[:len(payload)/2]
	g.target.begin(payload, half)
	// The source's first half is damaged, which proves that only the rest is transferred.
	at := filepath.Join(g.source.dir, "jobs", id, "in", "input", "a file.txt")
	spoilt := append(bytes.Repeat([]byte("?"), len(half)), payload[len(half):]...)
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	if at, _ := g.settled(id, payload); at != g.target {
		t.Errorf("the job ran at %s", at.name)
	}
}

func TestCorruptPartialTransferStartsOver(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue(payload)
	g.target.begin(payload, bytes.Repeat([]byte("?"), 1000))
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	if at, _ := g.settled(id, payload); at != g.target {
		t.Errorf("the job ran at %s", at.name)
	}
}

package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// receiver is a server for content with connections that break.
type receiver struct {
	droverv1connect.UnimplementedServerServiceHandler
	store *blobs.Store
	mu    sync.Mutex
	cuts  []int64 // after so many bytes of an upload its connection breaks; then no more do
	begun []int64 // where uploads began
	bytes int64   // that were received
	busy  int     // so many questions are answered with another upload under way
}

func (r *receiver) StatContent(
	_ context.Context, req *droverv1.StatContentRequest,
) (*droverv1.StatContentResponse, error) {
	p := r.store.Have(req.GetSha256(), req.GetSizeBytes())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	return &droverv1.StatContentResponse{Complete: p.Complete, HaveBytes: p.Have, Arriving: p.Arriving || r.busy >= 0},
		nil
}

// ServeHTTP takes uploads.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var begin, last, size int64
	if _, err := fmt.Sscanf(req.Header.Get("Content-Range"), "bytes %d-%d/%d", &begin, &last, &size); err != nil {
		begin, size = 0, req.ContentLength
	}
	content := &received{r: r, body: req.Body, left: 1 << 40}
	r.mu.Lock()
	r.begun = append(r.begun, begin)
	if len(r.cuts) > 0 {
		content.left, r.cuts = r.cuts[0], r.cuts[1:]
	}
	r.mu.Unlock()
	_, err := r.store.Add(content, blobs.Want{SHA256: path.Base(req.URL.Path), Size: size, Offset: begin})
	if mismatch, ok := errors.AsType[*blobs.MismatchError](err); ok {
		protorpc.Refuse(w, http.StatusBadRequest, &problem.Problem{
			Reason: problem.BadValue, Field: mismatch.Field, Message: err.Error(),
		})
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// received is an upload with a connection that breaks after so many bytes.
type received struct {
	r    *receiver
	body io.Reader
	left int64
}

func (p *received) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, errors.New("cut")
	}
	n, err := p.body.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	p.r.mu.Lock()
	p.r.bytes += int64(n)
	p.r.mu.Unlock()
	return n, err
}

// receiving starts a receiver, and returns a client with a file for it.
func receiving(t *testing.T, cuts ...int64) (*receiver, func(see func(int64)) error, *file) {
	t.Helper()
	store, err := blobs.Open(blobs.Config{Dir: t.TempDir(), Largest: 1 << 20, Capacity: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{store: store, cuts: cuts}
	route, handler := droverv1connect.NewServerServiceHandler(r)
	mux := http.NewServeMux()
	mux.Handle(route, handler)
	mux.Handle("/v1/", r)
	srv := httptest.NewUnstartedServer(mux)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(srv.Close)
	cfg := Default()
	transport := &http.Transport{Protocols: srv.Config.Protocols}
	t.Cleanup(transport.CloseIdleConnections)
	d, err := NewDirect(srv.URL, cfg, WithTransport(transport))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	data := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	hash := sha256.Sum256(data)
	f := &file{
		name: "f", size: int64(len(data)), sha256: hex.EncodeToString(hash[:]), open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data)), nil
		},
	}
	return r, func(see func(int64)) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return d.client.ensureContent(ctx, srv.URL, f, see)
	}, f
}

func TestAnUploadResumesWhereItBroke(t *testing.T) {
	r, bring, f := receiving(t, 100_000, 50_000)
	var last int64
	if err := bring(func(n int64) { last = n }); err != nil {
		t.Fatal(err)
	}
	if len(r.begun) != 3 || r.begun[0] != 0 || r.begun[1] != 100_000 || r.begun[2] != 150_000 || r.bytes != f.size ||
		last != f.size {
		t.Errorf("uploads from %d, %d bytes of %d, reported %d", r.begun, r.bytes, f.size, last)
	}
	last = 0
	if err := bring(func(n int64) { last = n }); err != nil || len(r.begun) != 3 || last != f.size {
		t.Errorf("what is there is sent again: uploads from %d, reported %d, %v", r.begun, last, err)
	}
}

func TestAnUploadWithoutProgressIsGivenUp(t *testing.T) {
	r, bring, _ := receiving(t, 1000, 0, 0, 0, 0)
	r.mu.Lock()
	r.cuts[0] = 0 // nothing of it arrives
	r.mu.Unlock()
	if err := bring(func(int64) {}); err == nil || len(r.begun) != 1 {
		t.Errorf("uploads from %d, %v", r.begun, err)
	}
}

func TestAWrongBeginningIsSentAgain(t *testing.T) {
	r, bring, f := receiving(t)
	broken := errors.New("broken")
	_, err := r.store.Add(io.MultiReader(bytes.NewReader([]byte("forged")), errReader{broken}),
		blobs.Want{SHA256: f.sha256, Size: f.size})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if err := bring(func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if len(r.begun) != 2 || r.begun[0] != 6 || r.begun[1] != 0 {
		t.Errorf("uploads from %d", r.begun)
	}
}

type errReader struct{ error }

func (e errReader) Read([]byte) (int, error) { return 0, e.error }

func TestAnUploadWaitsForAnotherUploadOfTheSameContent(t *testing.T) {
	r, bring, _ := receiving(t)
	r.busy = 2
	if err := bring(func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if len(r.begun) != 1 || r.busy != -1 {
		t.Errorf("uploads from %d, %d", r.begun, r.busy)
	}
}

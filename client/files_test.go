package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// plainly starts a server of plain HTTP, and returns a client that knows it.
func plainly(t *testing.T, handler http.HandlerFunc) (*rpc.Conn, string, context.Context) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	d, err := NewDirect(srv.URL, Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return d.client.conn, srv.URL, ctx
}

func TestADownloadResumesWhereItBroke(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 40_000)
	cut := true
	f, url, ctx := plainly(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/jobs/j/outputs/o" {
			t.Errorf("path %s", r.URL.Path)
		}
		if cut {
			cut = false
			w.Header().Set("Content-Length", "640000")
			_, _ = w.Write(data[:300_000])
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
	var got []byte
	take := func(piece []byte) error { got = append(got, piece...); return nil }
	err := f.GetOutput(ctx, url, "j", "o", 0, take)
	if submission.FailureOf(err).Kind != submission.Silent || len(got) == 0 || len(got) > 300_000 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if err := f.GetOutput(ctx, url, "j", "o", int64(len(got)), take); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the rest: %d bytes, %v", len(got), err)
	}
	if err := f.GetOutput(ctx, url, "j", "o", int64(len(data)), take); err != nil || len(got) != len(data) {
		t.Errorf("nothing more: %d bytes, %v", len(got), err)
	}
}

func TestRefusalsOverHTTPKeepTheirReasons(t *testing.T) {
	f, url, ctx := plainly(t, func(w http.ResponseWriter, _ *http.Request) {
		protorpc.Refuse(w, http.StatusRequestEntityTooLarge, &problem.Problem{
			Reason: problem.TooLarge, Field: "size_bytes", Accepted: "less", Message: "m",
		})
	})
	sent := 0
	content := &counted{Reader: bytes.NewReader(make([]byte, 8<<20)), see: func(int64) { sent++ }}
	err := f.Put(ctx, url, rpc.Upload{Size: 8 << 20, SHA256: "x"}, content)
	if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != "too-large" || e.Field != "size_bytes" ||
		e.Accepted != "less" || submission.FailureOf(err).Kind != submission.Refused {
		t.Errorf("%v", err)
	}
	if sent > 0 {
		t.Errorf("it was sent before it was refused")
	}
}

func TestAnUnreadableFileIsALocalError(t *testing.T) {
	f, url, ctx := plainly(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	bad := errors.New("bad sector")
	err := f.Put(ctx, url, rpc.Upload{Name: "n", Size: 10, SHA256: "x"}, io.MultiReader(bytes.NewReader([]byte("abc")),
		errReader{bad}))
	if _, ok := errors.AsType[*problem.Problem](err); ok || !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
}

func TestAServerWithoutTheRoutesIsRecognized(t *testing.T) {
	f, url, ctx := plainly(t, http.NotFound)
	hash := sha256.Sum256(nil)
	for name, err := range map[string]error{
		"get": f.GetOutput(ctx, url, "j", "o", 0, func([]byte) error { return nil }),
		"put": f.Put(ctx, url, rpc.Upload{SHA256: hex.EncodeToString(hash[:])}, bytes.NewReader(nil)),
	} {
		if e, ok := errors.AsType[*problem.Problem](err); !ok || submission.FailureOf(err).Kind != submission.Refused ||
			e.Hint != "check the URL" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package rpc

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

func TestAnotherServerAtTheAddressOfANodeIsReported(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	for name, c := range map[string]struct {
		handler   http.Handler
		protocols *http.Protocols
		want      string
	}{
		"HTTP/1 only":        {ok, nil, "another server"},
		"without nodes":      {http.NotFoundHandler(), both, "another server"},
		"other content type": {ok, both, "another server"},
		"busy": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}), both, "does not answer: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(c.handler)
			if c.protocols != nil {
				s.Config.Protocols = c.protocols
			}
			s.Start()
			defer s.Close()
			err := renewOnce(t, s.URL)
			for range 20 { // net/http can lose the answer of an HTTP/1 server while it connects
				if !strings.Contains(err.Error(), "could not be established") {
					break
				}
				err = renewOnce(t, s.URL)
			}
			if !errors.Is(err, node.ErrSilent) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if err := renewOnce(t, "http://"+l.Addr().String()); !errors.Is(err, node.ErrUnreachable) {
			t.Errorf("%v", err)
		}
	})
}

func renewOnce(t *testing.T, url string) error {
	t.Helper()
	r := NewClient(url, node.Claimant{Site: "s", ID: "i", Node: "a"})
	defer r.Close()
	_, err := r.Renew(t.Context(), nil, time.Minute)
	return err
}

package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"path"
	"sync"
	"testing"
)

// taps are proxies in front of the servers of a grid. They can drop messages.
//
//	agents, client, other servers ──▶ tap ──▶ server
type taps struct {
	mu   sync.Mutex
	site string // the site that loses messages; empty: all sites
	step string // the kind of message that is dropped; empty: none
	left int    // number of messages of the kind until the first dropped one
	do   func()
}

// before starts the tap of a site, and returns its URL.
func (p *taps) before(t *testing.T, site, address string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	forward := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // servers are killed
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", address },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	accepted := protocols
	accepted.SetHTTP1(true)
	server := &http.Server{
		Protocols: &accepted, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p.lost(site, path.Base(r.URL.Path)) {
				panic(http.ErrAbortHandler)
			}
			forward.ServeHTTP(w, r)
		}),
	}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		served.Wait()
		transport.CloseIdleConnections()
	})
	return "http://" + l.Addr().String()
}

// lose drops the nth message of a kind and all later ones. It calls do at the nth one.
func (p *taps) lose(site, step string, nth int, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.site, p.step, p.left, p.do = site, step, nth, do
}

// heal stops dropping messages, and reports whether any were dropped.
func (p *taps) heal() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = ""
	return p.left <= 0
}

func (p *taps) lost(site, step string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step != p.step || p.site != "" && site != p.site {
		return false
	}
	if p.left--; p.left == 0 {
		p.do()
	}
	return p.left <= 0
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// answer is an answer to a plain HTTP request.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with headers, given as pairs.
func ask(t *testing.T, method, url string, body io.Reader, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request,
		[]*http.Request,
	) error {
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

// reason returns the reason and the field of an error answer.
func (a answer) reason(t *testing.T) string {
	t.Helper()
	var detail struct{ Reason, Field, Message string }
	if err := json.Unmarshal([]byte(a.body), &detail); err != nil || detail.Message == "" ||
		a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("no detail: %d %q: %v", a.status, a.body, err)
	}
	return detail.Reason + " " + detail.Field
}

func TestFilesOverPlainHTTP(t *testing.T) {
	s := start(t, configured(t, ""))
	data := strings.Repeat("drover\x00\n", 40_000)
	url := s.URL() + "/v1/content/" + sum([]byte(data))
	if a := ask(t, "HEAD", url, nil); a.status != 404 || a.header.Get("Upload-Offset") != "0" {
		t.Errorf("before: %+v", a)
	}
	if a := ask(t, "PUT", url, strings.NewReader(data)); a.status != 201 ||
		!strings.Contains(strings.ReplaceAll(a.body, " ", ""), `"sizeBytes":"320000"`) {
		t.Fatalf("put: %+v", a)
	}
	if a := ask(t, "PUT", url, strings.NewReader(data)); a.status != 200 {
		t.Errorf("repeated: %+v", a)
	}
	if a := ask(t, "HEAD", url, nil); a.status != 200 || a.header.Get("Content-Length") != "320000" ||
		a.header.Get("ETag") != `"`+sum([]byte(data))+`"` {
		t.Errorf("after: %+v", a)
	}
	from := file(&droverv1.File{Sha256: sum([]byte(data)), SizeBytes: int64(len(data))})
	j := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": from}})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	output := s.URL() + "/v1/jobs/" + j.GetId() + "/outputs/to"
	a := ask(t, "GET", output, nil)
	if a.status != 200 || a.body != data || a.header.Get("ETag") != `"`+sum([]byte(data))+`"` ||
		a.header.Get("Content-Length") != "320000" {
		t.Errorf("get: %d, %d bytes, %v", a.status, len(a.body), a.header)
	}
	if a := ask(t, "GET", output, nil, "Range", "bytes=319990-", "If-Range", a.header.Get("ETag")); a.status != 206 ||
		a.body != data[319_990:] {
		t.Errorf("range: %+v", a)
	}
	if a := ask(t, "GET", output, nil, "Range", "bytes=320000-"); a.status != 416 ||
		a.reason(t) != "out-of-range Range" {
		t.Errorf("past the end: %+v", a)
	}
	if a := ask(t, "GET", s.URL()+"/v1/jobs/"+j.GetId()+"/outputs/from", nil); a.status != 404 ||
		a.reason(t) != "unknown-output argument" {
		t.Errorf("input as an output: %+v", a)
	}
	if a := ask(t, "GET", s.URL()+"/v1/jobs/"+newID(t)+"/stdout", nil); a.status != 404 ||
		a.reason(t) != "unknown-job job_id" {
		t.Errorf("unknown job: %+v", a)
	}
	if a := ask(t, "GET", s.URL()+"/v1/jobs/..%2f../stdout", nil); a.status != 400 ||
		a.reason(t) != "bad-value job_id" {
		t.Errorf("invalid job ID: %+v", a)
	}
}

func TestLogStreamsOverPlainHTTP(t *testing.T) {
	s := start(t, configured(t, ""))
	j := s.submit(t, &droverv1.Request{Service: "print"})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	for name, stream := range map[string]droverv1.LogStream{"stdout": 1, "stderr": 2} {
		want := s.log(t, &droverv1.ReadLogsRequest{JobId: j.GetId(), Stream: stream})
		if a := ask(t, "GET", s.URL()+"/v1/jobs/"+j.GetId()+"/"+name, nil); a.status != 200 || a.body != want {
			t.Errorf("%s: %+v, want %q", name, a, want)
		}
		if len(want) < 2 {
			continue
		}
		if a := ask(t, "GET", s.URL()+"/v1/jobs/"+j.GetId()+"/"+name, nil, "Range", "bytes=1-"); a.status != 206 ||
			a.body != want[1:] {
			t.Errorf("%s from 1: %+v, want %q", name, a, want[1:])
		}
	}
}

func TestHTTPUploadResumesInParts(t *testing.T) {
	s := start(t, configured(t, ""))
	const data = "0123456789"
	url := s.URL() + "/v1/content/" + sum([]byte(data))
	put := func(text, span string) answer {
		return ask(t, "PUT", url, strings.NewReader(text), "Content-Range", "bytes "+span)
	}
	if a := put("0123", "0-3/10"); a.status != 202 || a.header.Get("Upload-Offset") != "4" {
		t.Fatalf("first part: %+v", a)
	}
	if a := ask(t, "HEAD", url+"?size=10", nil); a.status != 404 || a.header.Get("Upload-Offset") != "4" ||
		a.header.Get("Upload-Length") != "10" {
		t.Errorf("state after the first part: %+v", a)
	}
	if a := put("56789", "5-9/10"); a.status != 416 || a.header.Get("Upload-Offset") != "4" ||
		a.reason(t) != "out-of-range offset" {
		t.Errorf("part after a gap: %+v", a)
	}
	if a := put("456789", "4-9/10"); a.status != 201 {
		t.Errorf("last part: %+v", a)
	}
	if a := put("9", "9-9/10"); a.status != 200 {
		t.Errorf("repeated part: %+v", a)
	}
}

// An interrupted upload is the client's error, so the server logs no failure. It answers
// if it can and keeps the bytes that arrived.
func TestInterruptedUploadIsAClientError(t *testing.T) {
	var log bytes.Buffer
	cfg := configured(t, "")
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Error})
	s := start(t, cfg)
	url := s.URL() + "/v1/content/" + sum([]byte("0123456789"))
	conn, err := (&net.Dialer{}).DialContext(within(t), "tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123",
		strings.TrimPrefix(url, s.URL())); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil || !bytes.HasPrefix(text, []byte("HTTP/1.1 400 ")) ||
		!bytes.Contains(text, []byte(`"field":"body"`)) {
		t.Errorf("%q, %v", text, err)
	}
	if a := ask(t, "HEAD", url+"?size=10", nil); a.header.Get("Upload-Offset") != "4" {
		t.Errorf("afterwards: %+v", a)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("logged:\n%s", &log)
	}
}

func TestInvalidHTTPUploadsAreRefused(t *testing.T) {
	s := start(t, configured(t, "limits: {file: 3kB, content: 3kB}"))
	sha := sum(nil)
	for name, tc := range map[string]struct {
		sha, span string
		size      int
		status    int
		reason    string
	}{
		"too large":          {sha, "", 3001, 413, "too-large size_bytes"},
		"another content":    {sha, "", 10, 400, "bad-value sha256"},
		"no checksum":        {"X", "", 10, 400, "bad-value sha256"},
		"no range":           {sha, "all of it", 10, 400, "bad-value Content-Range"},
		"an empty range":     {sha, "bytes 5-4/10", 0, 400, "bad-value Content-Range"},
		"beyond the end":     {sha, "bytes 1-10/10", 10, 400, "bad-value Content-Range"},
		"another length":     {sha, "bytes 0-8/20", 10, 400, "bad-value Content-Range"},
		"a number too large": {sha, "bytes 0-99999999999999999999/20", 10, 400, "bad-value Content-Range"},
		"a negative one":     {sha, "bytes -1-8/20", 10, 400, "bad-value Content-Range"},
	} {
		var headers []string
		if tc.span != "" {
			headers = []string{"Content-Range", tc.span}
		}
		a := ask(t, "PUT", s.URL()+"/v1/content/"+tc.sha, bytes.NewReader(make([]byte, tc.size)), headers...)
		if a.status != tc.status || a.reason(t) != tc.reason {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := ask(t, "HEAD", s.URL()+"/v1/content/"+sha+"?size=x", nil); a.status != 400 {
		t.Errorf("upload without a size: %+v", a)
	}
	if n := countFiles(t, filepath.Join(s.data.Root, "content")); n != 0 {
		t.Errorf("refused uploads left %d files", n)
	}
}

func TestRequestsForAMovedJobAreRedirected(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "")
	id := g.queue([]byte("letters"))
	if _, err := g.move(&droverv1.MoveJobRequest{JobId: id, To: "nice"}); err != nil {
		t.Fatal(err)
	}
	g.source.until(id, gone)
	g.settled(id, []byte("letters"))
	for _, path := range []string{"/v1/jobs/" + id + "/outputs/out", "/v1/jobs/" + id + "/stdout"} {
		a := ask(t, "GET", "http://"+g.source.address()+path, nil)
		if want := g.urls["nice"] + path; a.status != 307 || a.header.Get("Location") != want {
			t.Errorf("%s: %d %v, want %s", path, a.status, a.header, want)
		}
	}
	a := ask(t, "GET", "http://"+g.target.address()+"/v1/jobs/"+id+"/outputs/out", nil)
	if a.status != 200 || a.body != "letters" {
		t.Errorf("output at the target: %+v", a)
	}
}

func TestUploadResumesAfterAServerKill(t *testing.T) {
	t.Parallel()
	p := newProcessSite(t, "lyon", "")
	data := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB
	stat := func() *droverv1.StatContentResponse {
		t.Helper()
		have, err := p.client.StatContent(within(t), &droverv1.StatContentRequest{
			Sha256:    sum(data),
			SizeBytes: int64(len(data)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return have
	}
	// put uploads data from an offset, as far as the test writes them to the returned pipe.
	put := func(ctx context.Context, at int64) (*io.PipeWriter, chan error) {
		body, sending := io.Pipe()
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+p.address()+"/v1/content/"+sum(data),
			body)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = int64(len(data)) - at
		req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(data)-1, len(data)))
		answered := make(chan error, 1)
		go func() {
			res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err == nil {
				if res.Body.Close(); res.StatusCode != http.StatusCreated {
					err = errors.New(res.Status)
				}
			}
			answered <- err
		}()
		return sending, answered
	}
	p.run()
	for life := range int64(3) {
		ctx, cancel := context.WithCancel(within(t))
		at := stat().GetHaveBytes()
		if at != life*200_000 {
			t.Fatalf("server %d resumes at %d", life, at)
		}
		sending, answered := put(ctx, at)
		if _, err := sending.Write(data[at : at+200_000]); err != nil {
			t.Fatal(err)
		}
		for stat().GetHaveBytes() < at+200_000 { // a query makes the server write its buffer
			if err := ctx.Err(); err != nil {
				t.Fatal(err)
			}
		}
		p.kill()
		cancel()
		_ = sending.CloseWithError(io.ErrClosedPipe) // end the request's body
		if err := <-answered; err == nil {
			t.Fatal("a killed server answered")
		}
		p.run()
	}
	sending, answered := put(within(t), 600_000)
	if _, err := sending.Write(data[600_000:]); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sending.Close(), <-answered); err != nil {
		t.Fatalf("last upload: %v", err)
	}
	if have := stat(); !have.GetComplete() {
		t.Errorf("content after the last upload: %v", have)
	}
}

func TestUploadOffsetsAreChecked(t *testing.T) {
	s := start(t, configured(t, ""))
	sha := sum([]byte("abc"))
	for name, tc := range map[string]struct {
		want blobs.Want
		bad  string
	}{
		"negative":       {blobs.Want{SHA256: sha, Size: 3, Offset: -1}, "out-of-range offset"},
		"negative size":  {blobs.Want{SHA256: sha, Size: -1}, "out-of-range size_bytes"},
		"without a name": {blobs.Want{Offset: 1}, "bad-value offset"},
		"without a size": {blobs.Want{SHA256: sha, Offset: 1}, "bad-value offset"},
		"behind the end": {blobs.Want{SHA256: sha, Size: 3, Offset: 4}, "out-of-range offset"},
		"never begun":    {blobs.Want{SHA256: sha, Size: 3, Offset: 1}, "out-of-range offset"},
		"another size":   {blobs.Want{SHA256: sha, Size: 2}, "bad-value size_bytes"},
	} {
		_, err := s.Upload(strings.NewReader("abc"), tc.want)
		if p := problemOf(err); p == nil || string(p.Reason)+" "+p.Field != tc.bad {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.client.StatContent(within(t), &droverv1.StatContentRequest{})
	if _, d := detail(t, err); d.GetField() != "sha256" {
		t.Errorf("content without a hash: %v", err)
	}
}

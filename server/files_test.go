package server

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/files"
)

func TestJobReadsAndWritesContent(t *testing.T) {
	s := start(t, configured(t, ""))
	data := bytes.Repeat([]byte("drover\x00\n"), 40_000) // several messages each way
	for range 2 {                                        // the same content again changes nothing
		f, err := s.upload(within(t), data)
		if err != nil || f.GetSha256() != sum(data) || f.GetSizeBytes() != int64(len(data)) {
			t.Fatalf("upload: %v, %v", f, err)
		}
	}
	if n := countFiles(t, filepath.Join(s.data.Root, "content")); n != 1 {
		t.Errorf("%d files hold one content, want 1", n)
	}
	from := &droverv1.File{Sha256: sum(data), SizeBytes: int64(len(data)), Name: "my data.bin"}
	j := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(from)}})
	done := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if o := done.GetOutputs(); len(o) != 1 || o[0].GetArgument() != "to" || o[0].GetSha256() != sum(data) ||
		o[0].GetSizeBytes() != int64(len(data)) {
		t.Errorf("outputs: %v", o)
	}
	got, err := s.download(within(t), j.GetId(), "to", 0)
	if err != nil || sum(got) != sum(data) {
		t.Errorf("download: %d bytes, %v", len(got), err)
	}
	if got, err = s.download(within(t), j.GetId(), "to", int64(len(data))-3); err != nil ||
		!bytes.Equal(got, data[len(data)-3:]) {
		t.Errorf("download from the end: %q, %v", got, err)
	}
	in := s.data.Input(batch.JobID(done.GetId()), "from", "my data.bin")
	if info, err := os.Stat(in); err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("input file: %v, %v", info, err)
	}
}

func TestEmptyFileIsAccepted(t *testing.T) {
	s := start(t, configured(t, ""))
	f, err := s.upload(within(t), nil)
	if err != nil || f.GetSha256() != sum(nil) {
		t.Fatalf("upload: %v, %v", f, err)
	}
	j := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got, err := s.download(within(t), j.GetId(), "to", 0); err != nil || len(got) != 0 {
		t.Errorf("download: %q, %v", got, err)
	}
}

func TestInvalidUploadsAreRefused(t *testing.T) {
	s := start(t, configured(t, "limits: {file: 3kB, content: 3kB}"))
	for name, tc := range map[string]struct {
		path          string
		size          int
		reason, field string
	}{
		"too large":       {sum(make([]byte, 5000)), 5000, "too-large", "size_bytes"},
		"another content": {sum(nil), 10, "bad-value", "sha256"},
		"no hash":         {"..%2F..%2Fetc%2Fpasswd", 10, "bad-value", "sha256"},
	} {
		_, err := s.plain(within(t), http.MethodPut, "/v1/content/"+tc.path, bytes.NewReader(make([]byte, tc.size)), "")
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetReason() != tc.reason ||
			d.GetField() != tc.field || d.GetAccepted() == "" {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
	if n := countFiles(t, filepath.Join(s.data.Root, "content")); n != 0 {
		t.Errorf("refused uploads left %d files", n)
	}
}

func TestMissingOutputsAreNotFound(t *testing.T) {
	s := start(t, configured(t, ""))
	f, err := s.upload(within(t), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	copied := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
	s.until(t, copied.GetId(), droverv1.JobState_JOB_STATE_DONE)
	trapped := s.submit(t, &droverv1.Request{Service: "traps"})
	if o := s.until(t, trapped.GetId(), droverv1.JobState_JOB_STATE_DONE).GetOutputs(); len(o) != 0 {
		t.Errorf("a link and a pipe count as outputs: %v", o)
	}
	// Four processors are busy: the next job waits.
	s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	waiting := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
	for name, tc := range map[string]struct {
		id, argument string
		reason       string
		retryable    bool
	}{
		"not written":    {copied.GetId(), "more", "unknown-output", false},
		"an input":       {copied.GetId(), "from", "unknown-output", false},
		"a path":         {copied.GetId(), "../stdout", "unknown-output", false},
		"a link":         {trapped.GetId(), "link", "unknown-output", false},
		"a pipe":         {trapped.GetId(), "pipe", "unknown-output", false},
		"not ended":      {waiting.GetId(), "to", "unknown-output", true},
		"an unknown job": {newID(t), "to", "unknown-job", false},
		"a job of no ID": {"../..", "to", "bad-value", false},
		"behind the end": {copied.GetId(), "to", "out-of-range", false},
	} {
		offset := int64(0)
		if tc.reason == "out-of-range" {
			offset = 1000
		}
		_, err := s.download(within(t), tc.id, tc.argument, offset)
		if _, d := detail(t, err); d.GetReason() != tc.reason || d.GetRetryable() != tc.retryable ||
			strings.Contains(d.String(), s.data.Root) {
			t.Errorf("%s: %v", name, d)
		}
	}
}

// countFiles counts the files below a directory.
func countFiles(t *testing.T, dir string) int {
	n := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A program can replace its log files. A reader of the logs neither blocks on a pipe nor
// reads another file.
func TestLogsReplacedByOtherFilesAreRefused(t *testing.T) {
	s := start(t, configured(t, ""))
	j := s.submit(t, &droverv1.Request{Service: "print"})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	name := s.data.Stream(batch.JobID(j.GetId()), files.Stdout)
	for what, replace := range map[string]func() error{
		"a pipe":      func() error { return syscall.Mkfifo(name, 0o600) },
		"a link":      func() error { return os.Symlink("/etc/hostname", name) },
		"a directory": func() error { return os.Mkdir(name, 0o700) },
	} {
		if err := errors.Join(os.Remove(name), replace()); err != nil {
			t.Fatal(err)
		}
		stream, err := s.client.ReadLogs(within(t), &droverv1.ReadLogsRequest{JobId: j.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		if stream.Receive() {
			t.Errorf("%s: %q", what, stream.Msg().GetData())
		}
		if code, d := detail(t, stream.Err()); code != connect.CodeNotFound || d.GetReason() != "unknown-output" ||
			d.GetField() != "stream" {
			t.Errorf("%s: %v %v", what, code, d)
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}
}

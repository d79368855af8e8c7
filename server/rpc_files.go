package server

import (
	"context"
	"fmt"
	"io"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// ReadLogs sends what a job wrote.
func (f face) ReadLogs(ctx context.Context, req *droverv1.ReadLogsRequest, stream *connect.ServerStream[droverv1.ReadLogsResponse]) error {
	want := logs{job: req.GetJobId(), offset: req.GetOffset(), follow: req.GetFollow()}
	switch req.GetStream() {
	case droverv1.LogStream_LOG_STREAM_UNSPECIFIED, droverv1.LogStream_LOG_STREAM_STDOUT:
		want.stream = stdout
	case droverv1.LogStream_LOG_STREAM_STDERR:
		want.stream = stderr
	default:
		return &problem.Problem{
			Reason: problem.BadValue, Field: "stream", Accepted: "stdout, stderr", Message: fmt.Sprintf("stream: %d", req.GetStream()),
		}
	}
	return f.s.readLogs(ctx, want, func(p piece) error {
		return stream.Send(&droverv1.ReadLogsResponse{Data: p.data, Offset: p.offset})
	})
}

// StatContent says how much of a file's content is here.
func (f face) StatContent(_ context.Context, req *droverv1.StatContentRequest) (*droverv1.StatContentResponse, error) {
	p, err := f.s.have(req.GetSha256(), req.GetSizeBytes())
	if err != nil {
		return nil, err
	}
	return &droverv1.StatContentResponse{Complete: p.Complete, HaveBytes: p.Have, SizeBytes: p.Size, Arriving: p.Arriving}, nil
}

// Upload stores a file's content.
func (f face) Upload(_ context.Context, stream *connect.ClientStream[droverv1.UploadRequest]) (*droverv1.UploadResponse, error) {
	r := &uploadReader{stream: stream}
	// The first piece says what comes. A stream without any is an empty file.
	if !stream.Receive() {
		if err := stream.Err(); err != nil {
			return nil, err
		}
	} else {
		r.rest = stream.Msg().GetData()
		r.want = blobs.Want{SHA256: stream.Msg().GetSha256(), Size: stream.Msg().GetSizeBytes(), Offset: stream.Msg().GetOffset()}
	}
	b, err := f.s.upload(r, r.want)
	if err != nil {
		return nil, err
	}
	return &droverv1.UploadResponse{File: &droverv1.File{Sha256: b.SHA256, SizeBytes: b.Size}}, nil
}

// uploadReader reads the pieces of an upload as one file.
type uploadReader struct {
	stream *connect.ClientStream[droverv1.UploadRequest]
	want   blobs.Want
	rest   []byte
}

// Read is io.Reader's.
func (r *uploadReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if !r.stream.Receive() {
			if err := r.stream.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		r.rest = r.stream.Msg().GetData()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Download sends a file that a job has written.
func (f face) Download(ctx context.Context, req *droverv1.DownloadRequest, stream *connect.ServerStream[droverv1.DownloadResponse]) error {
	return f.s.download(ctx, req.GetJobId(), req.GetArgument(), req.GetOffset(), func(p piece) error {
		return stream.Send(&droverv1.DownloadResponse{Data: p.data, Offset: p.offset, SizeBytes: p.size})
	})
}

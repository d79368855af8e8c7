package server

import (
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// Upload stores the content that r returns.
func (s *Server) Upload(r io.Reader, want blobs.Want) (blobs.Blob, error) {
	if s.leaving.Load() {
		return blobs.Blob{}, errStopping
	}
	if err := checkContent(want); err != nil {
		return blobs.Blob{}, err
	}
	return s.content.Add(r, want)
}

// ContentProgress returns how much of a content has arrived.
func (s *Server) ContentProgress(sha string, size int64) (blobs.Progress, error) {
	if sha == "" {
		return blobs.Progress{}, badSHA256(sha, "64 lower-case hexadecimal digits")
	}
	if err := checkContent(blobs.Want{SHA256: sha, Size: size}); err != nil {
		return blobs.Progress{}, err
	}
	return s.content.Have(sha, size), nil
}

func checkContent(want blobs.Want) error {
	switch {
	case want.SHA256 != "" && !blobs.IsSHA256(want.SHA256):
		return badSHA256(want.SHA256, "64 lower-case hexadecimal digits, or none")
	case want.Size < 0:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "size_bytes", Accepted: "0 (not known) or more", Message: fmt.Sprintf("size_bytes: %d", want.Size),
		}
	case want.Offset < 0:
		return badOffset(want.Offset)
	case want.Offset > 0 && (want.SHA256 == "" || want.Size == 0):
		return &problem.Problem{
			Reason: problem.BadValue, Field: "offset", Accepted: "0, or with sha256 and size_bytes what StatContent says",
			Message: fmt.Sprintf("offset %d of content that is not named", want.Offset),
		}
	case want.Offset > want.Size:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "offset", Accepted: "0 to size_bytes", Message: fmt.Sprintf("offset %d of %d bytes", want.Offset, want.Size),
		}
	}
	return nil
}

func badSHA256(sha, accepted string) *problem.Problem {
	return &problem.Problem{Reason: problem.BadValue, Field: "sha256", Accepted: accepted, Message: fmt.Sprintf("sha256: %.70q", sha)}
}

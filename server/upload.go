package server

import (
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/rpcface"
	"github.com/seed-9b8f70bb/drover/server/blobs"
)

// upload stores what r gives.
func (s *Server) upload(r io.Reader, want blobs.Want) (blobs.Blob, error) {
	switch {
	case s.leaving.Load():
		return blobs.Blob{}, errStopping
	case want.SHA256 != "" && !blobs.IsSHA256(want.SHA256):
		return blobs.Blob{}, &rpcface.Problem{
			Reason: rpcface.BadValue, Field: "sha256", Accepted: "64 lower-case hexadecimal digits, or none",
			Message: fmt.Sprintf("sha256: %.70q", want.SHA256),
		}
	case want.Size < 0:
		return blobs.Blob{}, &rpcface.Problem{
			Reason: rpcface.OutOfRange, Field: "size_bytes", Accepted: "0 (not known) or more", Message: fmt.Sprintf("size_bytes: %d", want.Size),
		}
	}
	return s.content.Add(r, want)
}

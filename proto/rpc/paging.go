package rpc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// The sizes of a page of a list, in entries.
const (
	DefaultPage = 100
	LargestPage = 1000
)

// PageSize returns the number of entries of a page; 0 asks for DefaultPage. The error is a
// *problem.Problem.
func PageSize(asked int32) (int, error) {
	switch {
	case asked < 0 || asked > LargestPage:
		return 0, &problem.Problem{
			Reason: problem.OutOfRange, Field: "page_size", Message: fmt.Sprintf("page_size: %d", asked),
			Accepted: fmt.Sprintf("0 (for %d) to %d", DefaultPage, LargestPage),
		}
	case asked == 0:
		return DefaultPage, nil
	}
	return int(asked), nil
}

// Token encodes the position of the next page. Callers send it back unchanged. The
// position must consist of strings and numbers.
func Token(position any) string {
	b, err := json.Marshal(position)
	if err != nil { // strings and numbers can always be encoded
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken decodes a token into position. "" is the beginning and leaves position
// unchanged. The error is a *problem.Problem.
func ParseToken(token string, position any) error {
	if token == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, position)
	}
	if err != nil {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "page_token", Message: fmt.Sprintf("page_token: %.70q", token),
			Accepted: "the next_page_token of the page before",
		}
	}
	return nil
}

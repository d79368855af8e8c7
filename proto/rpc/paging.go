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

// PageSize returns the number of entries to send for the number asked for: 0 is
// DefaultPage. The error is a *problem.Problem.
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

// Token returns the position at which a list goes on, in a form that callers send
// back as it is. The position is of texts and numbers.
func Token(position any) string {
	b, err := json.Marshal(position)
	if err != nil { // texts and numbers can always be written
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken reads what Token returned; "" is the beginning, which leaves the
// position as it is. The error is a *problem.Problem.
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

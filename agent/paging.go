package agent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/rpcface"
)

// The sizes of a page.
const (
	defaultPage = 100
	largestPage = 1000
)

// pageSize returns the number of entries to send for the number asked for.
func pageSize(asked int32) (int, error) {
	if asked < 0 || asked > largestPage {
		return 0, &problem{
			Reason: rpcface.OutOfRange, Field: "page_size", Message: fmt.Sprint(asked),
			Accepted: fmt.Sprintf("0 (for %d) to %d", defaultPage, largestPage),
		}
	}
	if asked == 0 {
		return defaultPage, nil
	}
	return int(asked), nil
}

// position is where the next page of a list by name begins.
type position struct {
	From string `json:"f"` // the first name that is not yet sent
}

// token returns a position in a form that clients send back as it is.
func token(position any) string {
	b, err := json.Marshal(position)
	if err != nil { // texts and numbers can always be written
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseToken reads what token returned; "" is the beginning, which leaves the
// position as it is.
func parseToken(token string, position any) error {
	if token == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, position)
	}
	if err != nil {
		return &problem{
			Reason: rpcface.BadValue, Field: "page_token", Message: fmt.Sprintf("%q", token),
			Accepted: "next_page_token of the page before",
		}
	}
	return nil
}

// page returns one page of entries that are ordered by name, and the token of
// the next one.
func page[T any](all []T, name func(T) string, size int32, from string) ([]T, string, error) {
	n, err := pageSize(size)
	if err != nil {
		return nil, "", err
	}
	var at position
	if err := parseToken(from, &at); err != nil {
		return nil, "", err
	}
	start, _ := slices.BinarySearchFunc(all, at.From, func(t T, from string) int { return strings.Compare(name(t), from) })
	all = all[start:]
	if len(all) <= n {
		return all, "", nil
	}
	return all[:n], token(position{From: name(all[n])}), nil
}

// filter is a list's filter: values by key.
type filter map[string]string

// parseFilter reads "key=value key=value" with the keys that the list knows.
func parseFilter(text string, keys ...string) (filter, error) {
	f := make(filter)
	for _, term := range strings.Fields(text) {
		key, value, ok := strings.Cut(term, "=")
		if _, twice := f[key]; !ok || value == "" || twice || !slices.Contains(keys, key) {
			return nil, &problem{
				Reason: rpcface.BadValue, Field: "filter", Message: fmt.Sprintf("%q", term),
				Accepted: "key=value terms separated by spaces, each key once, of " + strings.Join(keys, ", "),
			}
		}
		f[key] = value
	}
	return f, nil
}

// allows says whether the filter lets a value of key pass.
func (f filter) allows(key, value string) bool {
	want, ok := f[key]
	return !ok || want == value
}

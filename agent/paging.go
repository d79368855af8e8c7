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

// position is where the next page begins.
type position struct {
	From  string `json:"f"`           // the first name that is not yet sent
	Inner string `json:"i,omitempty"` // the token of that site's own server
}

// token returns the position in a form that clients send back as it is.
func (p position) token() string {
	b, err := json.Marshal(p)
	if err != nil { // two strings can always be written
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseToken reads what token returned; "" is the beginning.
func parseToken(token string) (position, error) {
	var p position
	if token == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return p, &problem{
			Reason: rpcface.BadValue, Field: "page_token", Message: fmt.Sprintf("%q", token),
			Accepted: "next_page_token of the page before",
		}
	}
	return p, nil
}

// page returns one page of entries that are ordered by name, and the token of
// the next one.
func page[T any](all []T, name func(T) string, size int32, token string) ([]T, string, error) {
	n, err := pageSize(size)
	if err != nil {
		return nil, "", err
	}
	at, err := parseToken(token)
	if err != nil {
		return nil, "", err
	}
	start, _ := slices.BinarySearchFunc(all, at.From, func(t T, from string) int { return strings.Compare(name(t), from) })
	all = all[start:]
	if len(all) <= n {
		return all, "", nil
	}
	return all[:n], position{From: name(all[n])}.token(), nil
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

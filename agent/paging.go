package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// position is where the next page of a list by name begins.
type position struct {
	From string `json:"f"` // the first name that is not yet sent
}

// page returns one page of entries that are ordered by name, and the token of
// the next one.
func page[T any](all []T, name func(T) string, size int32, from string) ([]T, string, error) {
	n, err := rpc.PageSize(size)
	if err != nil {
		return nil, "", err
	}
	var at position
	if err := rpc.ParseToken(from, &at); err != nil {
		return nil, "", err
	}
	start, _ := slices.BinarySearchFunc(all, at.From, func(t T, from string) int { return strings.Compare(name(t), from) })
	all = all[start:]
	if len(all) <= n {
		return all, "", nil
	}
	return all[:n], rpc.Token(position{From: name(all[n])}), nil
}

// filter is a list's filter: values by key.
type filter map[string]string

// parseFilter reads "key=value key=value" with the keys that the list knows.
func parseFilter(text string, keys ...string) (filter, error) {
	f := make(filter)
	for _, term := range strings.Fields(text) {
		key, value, ok := strings.Cut(term, "=")
		if _, twice := f[key]; !ok || value == "" || twice || !slices.Contains(keys, key) {
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: "filter", Message: fmt.Sprintf("%q", term),
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

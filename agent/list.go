package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// page returns the page of a list, ordered by name, that begins at from or after it,
// and the name at which the next page begins; "" for the last page.
func page[T any](all []T, name func(T) string, size int, from string) (_ []T, next string) {
	start, _ := slices.BinarySearchFunc(all, from, func(t T, from string) int { return strings.Compare(name(t), from) })
	all = all[start:]
	if len(all) <= size {
		return all, ""
	}
	return all[:size], name(all[size])
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

// allows reports whether the filter lets a value of key pass.
func (f filter) allows(key, value string) bool {
	want, ok := f[key]
	return !ok || want == value
}

// text returns the filter with some of its keys only, in their order: what servers
// filter by.
func (f filter) text(keys ...string) string {
	var terms []string
	for _, key := range keys {
		if v, ok := f[key]; ok {
			terms = append(terms, key+"="+v)
		}
	}
	return strings.Join(terms, " ")
}

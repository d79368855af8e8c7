package repro

import (
	"bytes"
	"fmt"
)

// The lines of a page between which a report stands.
const (
	Begin = "<!-- begin: drover sim repro reallocation -->\n"
	End   = "<!-- end: drover sim repro reallocation -->\n"
)

// Include puts a text into a page, in place of what stands between the two lines.
func Include(page []byte, text string) ([]byte, error) {
	before, rest, begun := bytes.Cut(page, []byte(Begin))
	_, after, ended := bytes.Cut(rest, []byte(End))
	if !begun || !ended {
		return nil, fmt.Errorf("the page has no place for the report, accepted: the two lines\n%s%s", Begin, End)
	}
	return bytes.Join([][]byte{before, []byte(Begin + "\n" + text + "\n" + End), after}, nil), nil
}

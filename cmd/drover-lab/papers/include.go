package papers

import (
	"bytes"
	"fmt"
)

// The lines of a page between which the report about reallocation stands.
const (
	Begin = "<!-- begin: drover-lab repro reallocation -->\n"
	End   = "<!-- end: drover-lab repro reallocation -->\n"
)

// The lines for that about dynP.
const (
	DynPBegin = "<!-- begin: drover-lab repro dynp -->\n"
	DynPEnd   = "<!-- end: drover-lab repro dynp -->\n"
)

// Include puts a text into a page, in place of what stands between two lines.
func Include(page []byte, begin, end, text string) ([]byte, error) {
	before, rest, begun := bytes.Cut(page, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !begun || !ended {
		return nil, fmt.Errorf("the page has no place for the report, accepted: the two lines\n%s%s", begin, end)
	}
	return bytes.Join([][]byte{before, []byte(begin + "\n" + text + "\n" + end), after}, nil), nil
}

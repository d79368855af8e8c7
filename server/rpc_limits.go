package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// What others may put into a record that this server has to write again and again.
const (
	longestWord = 255     // of an owner, a site, a round, bytes
	longestText = 4 << 10 // of a reason, bytes
	mostHistory = 64      // moves of a job that comes from elsewhere
	mostNames   = 1000    // licenses
	// largestPlain is the size of a message up to which nobody looks how large a
	// record it makes: a byte of it becomes at most six.
	largestPlain = store.LargestRecord / 8
)

// words checks texts that have names: pairs of a field and its content. Control
// characters would do something to the terminal of whoever reads them.
func words(most int, pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if n := len(pairs[i+1]); n > most {
			return &problem.Problem{
				Reason: problem.OutOfRange, Field: pairs[i], Accepted: fmt.Sprintf("at most %d bytes", most),
				Message: fmt.Sprintf("%s: %d bytes", pairs[i], n),
			}
		}
		if strings.ContainsFunc(pairs[i+1], unicode.IsControl) {
			return &problem.Problem{
				Reason: problem.BadValue, Field: pairs[i], Accepted: "text without control characters", Message: fmt.Sprintf("%s: %.70q", pairs[i], pairs[i+1]),
			}
		}
	}
	return nil
}

// checkSite refuses what cannot be the name of another site.
func (s *Server) checkSite(field, name string) error {
	if badName(name) || name == s.cfg.Name {
		return &problem.Problem{
			Reason: problem.BadValue, Field: field, Accepted: "the name of another site", Message: fmt.Sprintf("%s: site %.70q", field, name),
		}
	}
	return nil
}

// checkSize refuses a request that the store could not hold: a message that is
// within its limit may be several times as large there.
func checkSize(m proto.Message, d *site.Dossier) error {
	if proto.Size(m) <= largestPlain {
		return nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("size of a request: %w", err)
	}
	if len(text) > store.LargestRecord/2 {
		return &problem.Problem{
			Reason: problem.TooLarge, Field: "request", Accepted: fmt.Sprintf("at most %d bytes as it is stored", store.LargestRecord/2),
			Message: fmt.Sprintf("the request has %d bytes as it is stored", len(text)), Hint: "large texts had better be files",
		}
	}
	return nil
}

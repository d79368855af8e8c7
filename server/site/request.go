package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Request is a client's wish to have a service executed. The site keeps what
// it points to: it must not be changed after Submit.
type Request struct {
	Service   string                     `json:"service"`
	Arguments map[string]catalogue.Value `json:"arguments,omitempty"`

	// Width and Walltime are the request's own; 0 leaves them to the service's
	// model. Walltime is meant as it stands, however fast the site is.
	Width    int32          `json:"width,omitempty"`
	Walltime batch.Duration `json:"walltime,omitempty"`
	// Menu is a model of the client's own in place of the service's: shapes in
	// ascending width with their walltimes on a processor of speed 1.0. At a
	// site of another speed they are scaled and rounded up to whole seconds.
	Menu []batch.Shape `json:"menu,omitempty"`

	Owner         string            `json:"owner,omitempty"`
	Origin        batch.Origin      `json:"origin,omitempty"`
	Deadline      batch.Time        `json:"deadline,omitempty"`       // completion wanted by then; 0 for none
	EarliestStart batch.Time        `json:"earliest_start,omitempty"` // 0 for at once
	Memory        int64             `json:"memory,omitempty"`         // need of each task, bytes; 0 takes the service's
	CPU           batch.Share       `json:"cpu,omitempty"`
	Licenses      []batch.License   `json:"licenses,omitempty"`
	Input         int64             `json:"input,omitempty"`      // bytes; 0 takes the sum of the file arguments
	InputSite     string            `json:"input_site,omitempty"` // where the input lies; "" at the client
	Idempotent    bool              `json:"idempotent,omitempty"` // executing it twice does no harm
	RetryOf       string            `json:"retry_of,omitempty"`   // the job that this is a new attempt of, by a client that lost it
	Labels        map[string]string `json:"labels,omitempty"`
	Agreement     *Agreement        `json:"agreement,omitempty"` // about the deadline; nil: it is wanted, and no more
	Into          batch.JobID       `json:"into,omitempty"`      // the reservation in which to run; "" for none
	Site          string            `json:"site,omitempty"`      // the only one that accepts it, where it stays; "" for any
	After         []Dependency      `json:"after,omitempty"`     // the jobs that have to end before it may start
	Retries       int32             `json:"retries,omitempty"`   // how often it is started once more after it has failed
	RetryOn       []int32           `json:"retry_on,omitempty"`  // the exit codes after which; empty for all
	Keep          map[string]Keep   `json:"keep,omitempty"`      // the data that are to stay at the site, by argument
	// Sticky says that it uses data which are at this site alone. The driver finds out,
	// as it does what a handle names: neither is of the request as it was sent.
	Sticky bool `json:"sticky,omitempty"`
}

// Validate checks what a request from outside says, apart from the rules about single
// fields that proto/rpc applies and from what depends on the site. It returns the first
// problem as a *problem.Problem. Quote and Submit expect a request that was checked.
func (r *Request) Validate() error {
	if len(r.Menu) > 0 && (r.Width != 0 || r.Walltime != 0) {
		return problem.Field(problem.BadValue, "request.shapes", "shapes, or width and walltime", "both shapes and a width or walltime")
	}
	if err := cmp.Or(r.validateLabels(), r.validateAgreement(), r.validateAfter(), r.validateRetries(), r.validateKeep()); err != nil {
		return err
	}
	if r.Into != "" {
		if _, err := CheckID(string(r.Into)); err != nil {
			return problem.Field(problem.BadValue, "request.into", "the ID of a reservation", "%.70q", r.Into)
		}
	}
	for i, l := range r.Licenses {
		if l.Name == "" || l.Copies < 1 {
			return problem.Field(problem.OutOfRange, fmt.Sprintf("request.licenses[%d]", i), "a name and at least 1 copy", "license %q, %d copies", l.Name, l.Copies)
		}
	}
	return validateMenu(r.Menu)
}

var walltimeRange = fmt.Sprintf("1s..%v", catalogue.MaxTime)

// The limits of labels: they are shown with their job, and kept with it.
const (
	mostLabels   = 64
	longestKey   = 255     // bytes
	longestLabel = 4 << 10 // of a value, bytes
)

// validateLabels also refuses control characters, which would reach the terminal of a
// user who lists jobs.
func (r *Request) validateLabels() error {
	check := func(field, word string) error {
		if strings.ContainsFunc(word, unicode.IsControl) {
			return problem.Field(problem.BadValue, field, "text without control characters", "%.70q", word)
		}
		return nil
	}
	if n := len(r.Labels); n > mostLabels {
		return problem.Field(problem.OutOfRange, "request.labels", fmt.Sprintf("at most %d", mostLabels), "%d labels", n)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		if key == "" || len(key) > longestKey {
			return problem.Field(problem.OutOfRange, "request.labels", fmt.Sprintf("keys of 1 to %d bytes", longestKey), "a key of %d bytes", len(key))
		}
		if err := cmp.Or(check("request.labels", key), check("request.labels."+key, r.Labels[key])); err != nil {
			return err
		}
		if n := len(r.Labels[key]); n > longestLabel {
			return problem.Field(problem.OutOfRange, "request.labels."+key, fmt.Sprintf("at most %d bytes", longestLabel), "%d bytes", n)
		}
	}
	return nil
}

// maxMenu bounds a client's own menu.
const maxMenu = 100_000

func validateMenu(menu []batch.Shape) error {
	if len(menu) > maxMenu {
		return problem.Field(problem.OutOfRange, "request.shapes", fmt.Sprintf("at most %d", maxMenu), "%d shapes", len(menu))
	}
	last := int32(0)
	for i, s := range menu {
		field := fmt.Sprintf("request.shapes[%d]", i)
		if s.Width <= last {
			return problem.Field(problem.OutOfRange, field+".width", "at least 1, in ascending order", "width %d after %d", s.Width, last)
		}
		if s.Walltime < batch.Second || s.Walltime > catalogue.MaxTime {
			return problem.Field(problem.OutOfRange, field+".walltime", walltimeRange, "walltime %v", s.Walltime)
		}
		last = s.Width
	}
	return nil
}

// fingerprint tells requests apart that are submitted under one ID.
type fingerprint [16]byte

// fingerprint returns that of the request: equal ones have the same. A menu can
// have many shapes, and is not written as text.
func (r *Request) fingerprint() fingerprint {
	rest := r.asSent()
	rest.Menu = nil
	b, err := json.Marshal(&rest) // maps are written in the order of their keys
	if err != nil {               // a request has nothing in it that cannot be written
		panic(fmt.Sprintf("site: fingerprint of a request: %v", err))
	}
	b = slices.Grow(b, 12*len(r.Menu))
	for _, s := range r.Menu {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Width))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Walltime))
	}
	sum := sha256.Sum256(b)
	return fingerprint(sum[:16])
}

// MarshalText writes it in hexadecimal digits.
func (f fingerprint) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, f[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (f *fingerprint) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(f) {
		return fmt.Errorf("fingerprint of %d digits, accepted: %d", len(b), hex.EncodedLen(len(f)))
	}
	_, err := hex.Decode(f[:], b)
	return err
}

package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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

// spec returns the job of a request for the batch system, without a shape and without
// the defaults of its service.
func (r *Request) spec() batch.Job {
	return batch.Job{
		Origin: r.Origin, Memory: r.Memory, CPU: r.CPU, Licenses: r.Licenses,
		EarliestStart: r.EarliestStart, Deadline: r.Deadline, Agreed: r.Agreement != nil,
		Owner: r.Owner, Name: r.Service, Site: r.InputSite, Input: r.Input,
	}
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

// Bound says whether a job stays where it is whatever happens: because of an agreement
// or a reservation, or because its request or what it uses is for this site alone.
func (j *Job) Bound() bool {
	return j.Needs != nil && (j.Needs.Agreed != nil || j.Needs.Into != "" || j.Needs.Bound)
}

// bound says whether a request is for this site alone.
func (s *Site) bound(r *Request) bool { return r.Site != "" || r.Sticky }

// notHere refuses a request that is bound to another site.
func (s *Site) notHere(r *Request) *problem.Problem {
	return &problem.Problem{
		Reason: problem.CannotRun, Field: "request.site", Accepted: fmt.Sprintf("%s, or none", s.config.Name),
		Hint:    "drover sites lists the sites; a request without one goes to the best",
		Message: fmt.Sprintf("the request is bound to site %.70q, and this is site %s", r.Site, s.config.Name),
	}
}

// Keep has the data of an argument stay at the site.
type Keep struct {
	ID   string `json:"id"`   // the handle that they get
	Mode string `json:"mode"` // how long they stay, as package depot calls it
}

// mostKeeps bounds how many data a request may keep.
const mostKeeps = 1000

// validateKeep refuses handles that are none, or that two data would get.
func (r *Request) validateKeep() error {
	if len(r.Keep) > mostKeeps {
		return problem.Field(problem.OutOfRange, "request.keep", fmt.Sprintf("at most %d", mostKeeps), "%d arguments", len(r.Keep))
	}
	seen := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(r.Keep)) {
		k := r.Keep[name]
		field := "request.keep." + name + ".data_id"
		if _, err := CheckID(k.ID); err != nil {
			return problem.Field(problem.BadValue, field, "a lower-case UUIDv7", "%.70q", k.ID)
		}
		if other, twice := seen[k.ID]; twice {
			return problem.Field(problem.BadValue, field, "a handle of its own for each argument", "%s, which %s gets", k.ID, other)
		}
		seen[k.ID] = name
	}
	return nil
}

// asSent returns the request without what a server has found out about the data that
// it names: a submission that is repeated when they are gone is the same one.
func (r *Request) asSent() Request {
	sent := *r
	sent.Sticky = false
	copied := false
	for name, v := range r.Arguments {
		id := v.File().Data
		if id == "" {
			continue
		}
		if !copied {
			sent.Arguments, copied = maps.Clone(r.Arguments), true
		}
		sent.Arguments[name] = catalogue.FileIn(catalogue.File{Data: id})
	}
	return sent
}

var uuidV7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// Ages of a job ID, by the time in it. A server keeps records for Horizon;
// about an older submission nobody could say whether it is a repeated one.
const (
	Horizon = 30 * 24 * batch.Hour
	Ahead   = batch.Hour // clocks differ, but not by more
)

// CheckID returns an ID from outside as a JobID, or a *problem.Problem unless it is a
// lower-case UUIDv7.
func CheckID(id string) (batch.JobID, error) {
	if !uuidV7.MatchString(id) {
		if len(id) > 64 {
			id = id[:64] + "..."
		}
		return "", problem.Field(problem.BadValue, "job_id", "a lower-case UUIDv7", "%q", id)
	}
	return batch.JobID(id), nil
}

// CheckAge returns a *problem.Problem when an ID that CheckID has accepted is older than
// Horizon or more than Ahead in the future. now counts from the Unix epoch.
func CheckAge(now batch.Time, id batch.JobID) error {
	ms, err := strconv.ParseInt(strings.ReplaceAll(string(id), "-", "")[:12], 16, 64)
	if err != nil {
		return problem.Field(problem.BadValue, "job_id", "a lower-case UUIDv7", "%q", id)
	}
	made := batch.Time(ms) * batch.Time(batch.Millisecond)
	if made < now-batch.Time(Horizon) || made > now+batch.Time(Ahead) {
		return problem.Field(problem.StaleID, "job_id", fmt.Sprintf("made at most %v ago and at most %v ahead", Horizon, Ahead), "%s", id)
	}
	return nil
}

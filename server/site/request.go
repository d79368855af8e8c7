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

// Request asks for one execution of a service. The site keeps what it points to, so it must not be
// changed after Submit.
type Request struct {
	Service   string                     `json:"service"`
	Arguments map[string]catalogue.Value `json:"arguments,omitempty"`

	// Width and Walltime override the service's model; 0 leaves them to it. The walltime is not
	// scaled by the speed of the site.
	Width    int32          `json:"width,omitempty"`
	Walltime batch.Duration `json:"walltime,omitempty"`
	// Menu replaces the service's model: shapes in ascending width, with walltimes on a processor
	// of speed 1.0. A site of another speed scales them and rounds up to whole seconds.
	Menu []batch.Shape `json:"menu,omitempty"`

	Owner         string       `json:"owner,omitempty"`
	Origin        batch.Origin `json:"origin,omitempty"`
	Deadline      batch.Time   `json:"deadline,omitempty"`       // wanted completion; 0 for none
	EarliestStart batch.Time   `json:"earliest_start,omitempty"` // 0 for now
	// of each task, bytes; 0 means the need of the service
	Memory     int64           `json:"memory,omitempty"`
	CPU        batch.Share     `json:"cpu,omitempty"`
	Licenses   []batch.License `json:"licenses,omitempty"`
	Input      int64           `json:"input,omitempty"`      // bytes; 0 means the sum of the file arguments
	InputSite  string          `json:"input_site,omitempty"` // where the input lies; "" at the client
	Idempotent bool            `json:"idempotent,omitempty"` // a second execution does no harm
	// the job that the client lost and replaces with this one
	RetryOf   string            `json:"retry_of,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Agreement *Agreement        `json:"agreement,omitempty"` // makes the deadline binding; nil if it is only a wish
	Into      batch.JobID       `json:"into,omitempty"`      // the reservation in which to run; "" for none
	Site      string            `json:"site,omitempty"`      // the only one that accepts it, where it stays; "" for any
	After     []Dependency      `json:"after,omitempty"`     // jobs that must end first
	Retries   int32             `json:"retries,omitempty"`   // how often a failed job is restarted
	RetryOn   []int32           `json:"retry_on,omitempty"`  // exit codes that are retried; empty for all
	Keep      map[string]Keep   `json:"keep,omitempty"`      // data that stay at the site, by argument
	// Sticky is true if the request uses data that only this site has. The driver sets it, as it
	// fills in what handles name; neither is part of the request as sent.
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
		return problem.Field(problem.BadValue, "request.shapes", "shapes, or width and walltime",
			"both shapes and a width or walltime")
	}
	if err := cmp.Or(r.validateLabels(), r.validateAgreement(), r.validateAfter(), r.validateRetries(),
		r.validateKeep()); err != nil {
		return err
	}
	if r.Into != "" {
		if _, err := CheckID(string(r.Into)); err != nil {
			return problem.Field(problem.BadValue, "request.into", "the ID of a reservation", "%.70q", r.Into)
		}
	}
	for i, l := range r.Licenses {
		if l.Name == "" || l.Copies < 1 {
			return problem.Field(problem.OutOfRange, fmt.Sprintf("request.licenses[%d]", i),
				"a name and at least 1 copy", "license %q, %d copies", l.Name, l.Copies)
		}
	}
	return validateMenu(r.Menu)
}

var walltimeRange = fmt.Sprintf("1s..%v", catalogue.MaxTime)

// Limits of labels, which are stored and shown with their job.
const (
	maxLabels     = 64
	maxLabelKey   = 255     // bytes
	maxLabelValue = 4 << 10 // of a value, bytes
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
	if n := len(r.Labels); n > maxLabels {
		return problem.Field(problem.OutOfRange, "request.labels", fmt.Sprintf("at most %d", maxLabels), "%d labels", n)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		if key == "" || len(key) > maxLabelKey {
			return problem.Field(problem.OutOfRange, "request.labels", fmt.Sprintf("keys of 1 to %d bytes",
				maxLabelKey), "a key of %d bytes", len(key))
		}
		if err := cmp.Or(check("request.labels", key), check("request.labels."+key, r.Labels[key])); err != nil {
			return err
		}
		if n := len(r.Labels[key]); n > maxLabelValue {
			return problem.Field(problem.OutOfRange, "request.labels."+key,
				fmt.Sprintf("at most %d bytes", maxLabelValue), "%d bytes", n)
		}
	}
	return nil
}

// maxMenu is the largest number of shapes in a client's menu.
const maxMenu = 100_000

func validateMenu(menu []batch.Shape) error {
	if len(menu) > maxMenu {
		return problem.Field(problem.OutOfRange, "request.shapes", fmt.Sprintf("at most %d", maxMenu), "%d shapes",
			len(menu))
	}
	last := int32(0)
	for i, s := range menu {
		field := fmt.Sprintf("request.shapes[%d]", i)
		if s.Width <= last {
			return problem.Field(problem.OutOfRange, field+".width", "at least 1, in ascending order",
				"width %d after %d", s.Width, last)
		}
		if s.Walltime < batch.Second || s.Walltime > catalogue.MaxTime {
			return problem.Field(problem.OutOfRange, field+".walltime", walltimeRange, "walltime %v", s.Walltime)
		}
		last = s.Width
	}
	return nil
}

// fingerprint distinguishes requests that are submitted under one ID.
type fingerprint [16]byte

// fingerprint returns equal values for equal requests. The menu, which can have many shapes, is
// hashed in binary.
func (r *Request) fingerprint() fingerprint {
	rest := r.asSent()
	rest.Menu = nil
	b, err := json.Marshal(&rest) // json sorts the keys of maps
	if err != nil {               // cannot happen: all fields can be marshaled
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

// MarshalText returns the fingerprint in hexadecimal.
func (f fingerprint) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, f[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (f *fingerprint) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(f) {
		return fmt.Errorf("fingerprint of %d digits, accepted: %d", len(b), hex.EncodedLen(len(f)))
	}
	_, err := hex.Decode(f[:], b)
	return err
}

// Bound reports whether a job never leaves this site: it has an agreement or a reservation, or its
// request or its data are bound to the site.
func (j *Job) Bound() bool {
	return j.Needs != nil && (j.Needs.Agreed != nil || j.Needs.Into != "" || j.Needs.Bound)
}

// bound reports whether a request is bound to this site.
func (s *Site) bound(r *Request) bool { return r.Site != "" || r.Sticky }

// boundElsewhere returns the refusal of a request that is bound to another site.
func (s *Site) boundElsewhere(r *Request) *problem.Problem {
	return &problem.Problem{
		Reason: problem.CannotRun, Field: "request.site", Accepted: fmt.Sprintf("%s, or none", s.config.Name),
		Hint:    "drover sites lists the sites; a request without one goes to the best",
		Message: fmt.Sprintf("the request is bound to site %.70q, and this is site %s", r.Site, s.config.Name),
	}
}

// Keep makes the data of an argument stay at the site.
type Keep struct {
	ID   string `json:"id"`   // the handle of the data
	Mode string `json:"mode"` // how long they stay, in the terms of package depot
}

// maxKeep is the largest number of arguments with data that a request keeps.
const maxKeep = 1000

// validateKeep refuses invalid handles, and a handle that is used for two arguments.
func (r *Request) validateKeep() error {
	if len(r.Keep) > maxKeep {
		return problem.Field(problem.OutOfRange, "request.keep", fmt.Sprintf("at most %d", maxKeep), "%d arguments",
			len(r.Keep))
	}
	seen := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(r.Keep)) {
		k := r.Keep[name]
		field := "request.keep." + name + ".data_id"
		if _, err := CheckID(k.ID); err != nil {
			return problem.Field(problem.BadValue, field, "a lower-case UUIDv7", "%.70q", k.ID)
		}
		if other, twice := seen[k.ID]; twice {
			return problem.Field(problem.BadValue, field, "a handle of its own for each argument", "%s, which %s gets",
				k.ID, other)
		}
		seen[k.ID] = name
	}
	return nil
}

// asSent returns the request without what a server found out about the data that it names. So a
// repeated submission has the same fingerprint even if the data are gone.
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

// Limits of the age of a job ID, which contains its time of creation. A server keeps records for
// Horizon; a submission with an older ID cannot be recognized as a repetition.
const (
	Horizon = 30 * 24 * batch.Hour
	Ahead   = batch.Hour // clocks differ by less
)

// CheckID returns an ID from outside as a JobID. The error is a *problem.Problem if it is not a
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

// CheckAge returns a *problem.Problem if an ID that passed CheckID is older than Horizon by the time
// that counts for the age of records, or more than Ahead in the future of now. Both times count from
// the Unix epoch.
func CheckAge(seen, now batch.Time, id batch.JobID) error {
	ms, err := strconv.ParseInt(strings.ReplaceAll(string(id), "-", "")[:12], 16, 64)
	if err != nil {
		return problem.Field(problem.BadValue, "job_id", "a lower-case UUIDv7", "%q", id)
	}
	made := batch.Time(ms) * batch.Time(batch.Millisecond)
	if made < seen-batch.Time(Horizon) || made > now+batch.Time(Ahead) {
		return problem.Field(problem.StaleID, "job_id", fmt.Sprintf("made at most %v ago and at most %v ahead", Horizon,
			Ahead), "%s", id)
	}
	return nil
}

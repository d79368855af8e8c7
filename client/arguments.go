package client

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Arg is a part of a request: an argument of the service, or an option of the execution.
type Arg func(*request)

// request is a service call in the making.
type request struct {
	service    string
	args       []argument
	outputs    []output
	owner      string
	shapes     []Shape
	width      *int
	walltime   *time.Duration
	deadline   time.Time
	terms      *Terms // of the agreement about the deadline; nil for none
	into       string
	earliest   time.Time
	memory     int64
	cpu        float64
	licenses   []license
	inputSite  string
	site       string // the only one allowed; empty for any
	idempotent bool
	after      []Dependency
	retries    int
	retryOn    []int
	keep       []keep
	labels     map[string]string
	notify     func(*Job)
	sending    func(name string, sent, size int64) // nil for none
	rerun      time.Duration                       // how long its state can be unknown before a new attempt; 0 for ever
	retryOf    string                              // ID of the first attempt
	again      *rpc.Request                        // that was sent for the first attempt, by another client
}

// argument is a value by its name. The value is an int64, float64, string, bool,
// *file, *stored, typed or misfit.
type argument struct {
	name  string
	value any
}

// typed is a value as a person typed it.
type typed string

// output is the path for an output of the job.
type output struct {
	argument, path string
	typed          bool // by a person: the service must have the output
}

// license is a number of copies of a license.
type license struct {
	Name   string `proto:"name"`
	Copies int    `proto:"copies"`
}

// file is content that is sent to the site.
type file struct {
	name   string // base name that the program sees
	open   func() (io.ReadCloser, error)
	sha256 string // set by identify, as size is
	size   int64
	block  *Block // the vector or matrix in it; nil for a file
}

func value(name string, v any) Arg {
	return func(r *request) { r.args = append(r.args, argument{name, v}) }
}

// Int sets an int or float argument.
func Int(name string, v int64) Arg { return value(name, v) }

// Float sets a float argument.
func Float(name string, v float64) Arg { return value(name, v) }

// String sets a string argument.
func String(name, v string) Arg { return value(name, v) }

// Bool sets a bool argument.
func Bool(name string, v bool) Arg { return value(name, v) }

// File sets a file argument to the content of the file at path. The file must not change
// until the job is submitted.
func File(name, path string) Arg { return value(name, fileAt(path)) }

// Content sets a file argument to this content.
func Content(name string, content []byte) Arg {
	return value(name, &file{open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}})
}

// Text sets an argument from text that a person typed. The type of the argument says how
// it is read: as a number, a string, the path of a file to send, the path of a .npy file
// or numbers such as 1,2;3,4 for a vector or matrix, data:HANDLE (or its beginning) for
// stored data, or the path for an output, as in OutputTo.
func Text(name, text string) Arg { return value(name, typed(text)) }

// OutputTo sets the path to which Call saves an output. A vector or matrix becomes a
// .npy file if the path ends in .npy, and the raw block otherwise. Submit ignores it.
func OutputTo(name, path string) Arg {
	return func(r *request) { r.outputs = append(r.outputs, output{argument: name, path: path}) }
}

// TextOutput is OutputTo with a name that a person typed: the request is refused if the
// service has no such output.
func TextOutput(name, path string) Arg {
	return func(r *request) { r.outputs = append(r.outputs, output{argument: name, path: path, typed: true}) }
}

// Notify has Submit and Call report the job when it is accepted. Call also reports every
// later change, up to the end.
func Notify(see func(*Job)) Arg { return func(r *request) { r.notify = see } }

// Width asks for this many processors, at least 1. Without it the server chooses.
func Width(processors int) Arg { return func(r *request) { r.width = &processors } }

// Walltime asks for a walltime above 0. Without it the server takes the walltime from
// the service's performance model.
func Walltime(d time.Duration) Arg { return func(r *request) { r.walltime = &d } }

// Shapes sets the shapes to choose from, in ascending width, instead of Width and
// Walltime.
func Shapes(shapes ...Shape) Arg { return func(r *request) { r.shapes = shapes } }

// Owner sets the owner of the job, instead of the client's own.
func Owner(name string) Arg { return func(r *request) { r.owner = name } }

// Deadline sets when the job should be finished. A site that expects a later end refuses
// the request; nothing else follows from it. See Agree.
func Deadline(t time.Time) Arg { return func(r *request) { r.deadline = t } }

// EarliestStart forbids a start before t.
func EarliestStart(t time.Time) Arg { return func(r *request) { r.earliest = t } }

// Memory is the need of each task, bytes.
func Memory(bytes int64) Arg { return func(r *request) { r.memory = bytes } }

// CPU is the share of a processor that each task can use, up to 1.
func CPU(share float64) Arg { return func(r *request) { r.cpu = share } }

// License asks for copies of a license while the job runs.
func License(name string, copies int) Arg {
	return func(r *request) { r.licenses = append(r.licenses, license{name, copies}) }
}

// InputSite names the site where the input data already is.
func InputSite(site string) Arg { return func(r *request) { r.inputSite = site } }

// Idempotent declares that executing the request twice does no harm.
func Idempotent() Arg { return func(r *request) { r.idempotent = true } }

// Rerun replaces a lost attempt of an idempotent request: if the state of the job is
// unknown for this long, because the server it was sent to (or, for Call, the site that
// has the job) does not answer, the request is submitted under a new ID, at another site
// if there is one. RetryOf of the new job is the ID of the first. If the lost site comes
// back while Call waits, the job there is cancelled; otherwise both can be executed.
func Rerun(after time.Duration) Arg { return func(r *request) { r.rerun = after } }

// Label stores a key and a value with the job.
func Label(key, value string) Arg {
	return func(r *request) {
		if r.labels == nil {
			r.labels = make(map[string]string)
		}
		r.labels[key] = value
	}
}

// fileAt returns the file at path.
func fileAt(path string) *file {
	return &file{name: filepath.Base(path), open: func() (io.ReadCloser, error) {
		// A pipe can be read only once, and opening one without a writer blocks.
		if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			return nil, &problem.Problem{
				Reason: problem.BadValue, Accepted: "a file, which can be read again",
				Message: fmt.Sprintf("%s is a pipe", path),
				Hint:    "drover data put takes it, and prints a handle for name=data:HANDLE",
			}
		}
		return os.Open(path)
	}}
}

// Terms are the terms of an agreement, besides its deadline.
type Terms struct {
	Value          float64 `proto:"value"`          // of keeping it, at least 0
	Penalty        float64 `proto:"penalty"`        // of breaking it, at least 0
	Checkpointable bool    `proto:"checkpointable"` // the job can be stopped and continue later
}

// MarshalJSON returns the JSON of a drover.v1.Agreement.
func (t Terms) MarshalJSON() ([]byte, error) { return rpc.JSON("Agreement", t) }

// Agree makes the deadline an agreement: only a site with a plan that keeps it accepts the
// request. If there is none, the error is problem.NoOffer, with the earliest completion
// that a site could promise, or problem.NoPromise.
func Agree(deadline time.Time, t Terms) Arg {
	return func(r *request) { r.deadline, r.terms = deadline, &t }
}

// Into has the job run in the reservation with this ID, at its site.
func Into(reservation string) Arg { return func(r *request) { r.into = reservation } }

// AgreementState is the state of an agreement.
type AgreementState string

// The states of an agreement.
const (
	AgreementOpen         AgreementState = "open"           // the job has not ended
	AgreementKept         AgreementState = "kept"           // completed by the deadline
	AgreementBrokenByUser AgreementState = "broken-by-user" // the job outran its estimate, or failed by itself
	AgreementBrokenBySite AgreementState = "broken-by-site"
	AgreementVoid         AgreementState = "void" // the job was cancelled
)

// Bounds of retries and dependencies.
const (
	// MostRetries bounds how often a job is restarted.
	MostRetries = 100
	// MostDependencies bounds the dependencies of a job.
	MostDependencies = 1000

	largestExitCode = 255
)

// After holds the job until these jobs are Done: it is Held at its site and keeps its
// position in the order. If one of them ends otherwise, the job is Cancelled, and its
// outcome names that one. The jobs have to exist, which rules out cycles. Several Afters
// add up.
func After(jobs ...string) Arg { return after(jobs, false) }

// AfterAny is After for any end of the jobs.
func AfterAny(jobs ...string) Arg { return after(jobs, true) }

func after(jobs []string, whatever bool) Arg {
	return func(r *request) {
		for _, id := range jobs {
			r.after = append(r.after, Dependency{Job: id, Any: whatever})
		}
	}
}

// Retry has the job restarted at its site after it has Failed with one of these exit
// codes, 1..255, or with any code or signal if none is given; at most this many times,
// 0..MostRetries. The job keeps its ID; its Attempt counts up.
func Retry(times int, codes ...int) Arg {
	return func(r *request) { r.retries, r.retryOn = times, codes }
}

// checkOrder refuses dependencies and retries that no server accepts. A job that is
// named twice is sent once, with the stricter condition.
func (r *request) checkOrder() error {
	if r.retries < 0 || r.retries > MostRetries {
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.retries", Accepted: fmt.Sprintf("0..%d", MostRetries),
			Message: strconv.Itoa(r.retries),
		}
	}
	if len(r.retryOn) > 0 && r.retries == 0 {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.retry_on", Accepted: "none without retries",
			Message: "exit codes without retries",
		}
	}
	for _, code := range r.retryOn {
		if code < 1 || code > largestExitCode {
			return &problem.Problem{
				Reason: problem.OutOfRange, Field: "request.retry_on", Accepted: fmt.Sprintf("1..%d", largestExitCode),
				Message: strconv.Itoa(code),
			}
		}
	}
	at := make(map[string]int)
	var once []Dependency
	for _, d := range r.after {
		if err := checkID(d.Job); err != nil {
			return &problem.Problem{
				Reason: problem.BadValue, Field: "request.after", Accepted: "IDs of jobs",
				Message: strconv.Quote(d.Job),
			}
		}
		if i, known := at[d.Job]; known {
			once[i].Any = once[i].Any && d.Any
			continue
		}
		at[d.Job] = len(once)
		once = append(once, d)
	}
	if len(once) > MostDependencies {
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.after", Accepted: fmt.Sprintf("%d jobs at most",
				MostDependencies), Message: fmt.Sprintf("%d jobs", len(once)),
		}
	}
	r.after = once
	return nil
}

// Keep has data of the job stay at its site: an input once the job is accepted, an
// output once it is done. An empty mode is DataPersistent. Job.Kept has the handle,
// which other requests can use from then on.
func Keep(argument string, mode DataMode) Arg {
	return func(r *request) { r.keep = append(r.keep, keep{argument: argument, mode: mode}) }
}

// keep is the data of one argument that stays at the site.
type keep struct {
	argument string
	id       string
	mode     DataMode
}

// nameKept makes handles for the data that stays, and refuses invalid names and modes.
func (r *request) nameKept() error {
	seen := make(map[string]bool)
	for i := range r.keep {
		k := &r.keep[i]
		var err error
		if k.mode, err = ParseDataMode(string(k.mode)); err != nil {
			return fmt.Errorf("keep %s: %w", k.argument, err)
		}
		if k.argument == "" || seen[k.argument] {
			return &problem.Problem{
				Reason: problem.BadValue, Field: "request.keep", Accepted: "names of arguments, each once",
				Message: fmt.Sprintf("keep %q", k.argument),
			}
		}
		seen[k.argument] = true
		if k.id, err = newHandle(); err != nil {
			return err
		}
	}
	return nil
}

package client

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Arg is a part of a request: an argument of the service, or a wish about how it
// is executed.
type Arg func(*request)

// request is what a client wants to have executed.
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
	site       string // the only one it may go to; empty for any
	idempotent bool
	after      []Dependency
	retries    int
	retryOn    []int
	keep       []keep
	labels     map[string]string
	notify     func(*Job)
	sending    func(name string, sent, size int64) // nil: nobody is to be told
	rerun      time.Duration                       // how long it may be unknown; 0: for ever
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

// output is where a file that the job writes should go.
type output struct {
	argument, path string
	typed          bool // by a person: the service has to have it
}

// license is a number of copies of a license.
type license struct {
	Name   string `proto:"name"`
	Copies int    `proto:"copies"`
}

// file is content that has to reach the site.
type file struct {
	name   string // base name that the program should see
	open   func() (io.ReadCloser, error)
	sha256 string // set by identify, with size
	size   int64
	block  *Block // of a vector or matrix what it is; nil for a file
}

func value(name string, v any) Arg {
	return func(r *request) { r.args = append(r.args, argument{name, v}) }
}

// Int gives an int argument, or a float one.
func Int(name string, v int64) Arg { return value(name, v) }

// Float gives a float argument.
func Float(name string, v float64) Arg { return value(name, v) }

// String gives a string argument.
func String(name, v string) Arg { return value(name, v) }

// Bool gives a bool argument.
func Bool(name string, v bool) Arg { return value(name, v) }

// File gives a file argument: the content of the file at path, which must not
// change until the job is submitted.
func File(name, path string) Arg { return value(name, fileAt(path)) }

// Content gives a file argument with this content.
func Content(name string, content []byte) Arg {
	return value(name, &file{open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}})
}

// Text gives an argument as a person typed it. It is read by the type that the
// service gives the argument: a number, a text, the path of a file to send, of a
// vector or matrix the path of a .npy file, or numbers as 1,2;3,4; data:HANDLE (or
// its beginning) for data that stay at a site; or the path that what the job writes
// goes to as by OutputTo.
func Text(name, text string) Arg { return value(name, typed(text)) }

// OutputTo says where Call should put what the job writes for an argument that comes
// out. A vector or matrix becomes one of NumPy's files if the path ends in .npy, and
// else the block alone. Submit does nothing with it.
func OutputTo(name, path string) Arg {
	return func(r *request) { r.outputs = append(r.outputs, output{argument: name, path: path}) }
}

// TextOutput is OutputTo as a person typed it: the request is refused if nothing
// comes out for the argument.
func TextOutput(name, path string) Arg {
	return func(r *request) { r.outputs = append(r.outputs, output{argument: name, path: path, typed: true}) }
}

// Notify makes Submit and Call tell of the job when it has been accepted, and
// Call of every change after that, up to the end.
func Notify(see func(*Job)) Arg { return func(r *request) { r.notify = see } }

// Width asks for so many processors, at least 1. Without it the server chooses.
func Width(processors int) Arg { return func(r *request) { r.width = &processors } }

// Walltime asks for a walltime above 0. Without it the server takes it from the
// service's performance model.
func Walltime(d time.Duration) Arg { return func(r *request) { r.walltime = &d } }

// Shapes gives shapes to choose from, in ascending width, in place of Width and
// Walltime.
func Shapes(shapes ...Shape) Arg { return func(r *request) { r.shapes = shapes } }

// Owner says who asks, in place of the client's own.
func Owner(name string) Arg { return func(r *request) { r.owner = name } }

// Deadline says when the job should be finished: a site that expects it later refuses
// it, and that is all. See Agree.
func Deadline(t time.Time) Arg { return func(r *request) { r.deadline = t } }

// EarliestStart forbids a start before t.
func EarliestStart(t time.Time) Arg { return func(r *request) { r.earliest = t } }

// Memory is what each task needs, bytes.
func Memory(bytes int64) Arg { return func(r *request) { r.memory = bytes } }

// CPU is the share of a processor that each task can use, up to 1.
func CPU(share float64) Arg { return func(r *request) { r.cpu = share } }

// License asks for copies of a license while the job runs.
func License(name string, copies int) Arg {
	return func(r *request) { r.licenses = append(r.licenses, license{name, copies}) }
}

// InputSite names the site where the input data lies already.
func InputSite(site string) Arg { return func(r *request) { r.inputSite = site } }

// Idempotent says that executing it twice would do no harm.
func Idempotent() Arg { return func(r *request) { r.idempotent = true } }

// Rerun has an idempotent request started anew, under a new ID and at another
// site if there is one, when for so long nobody can say what became of it: the
// server it was sent to does not answer, or, of Call, the site that has the job.
// The new job's RetryOf is the ID of the first. While Call waits, and the lost
// site comes back, the job there is cancelled; otherwise both may be executed.
func Rerun(after time.Duration) Arg { return func(r *request) { r.rerun = after } }

// Label keeps words of the caller's with the job.
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
		// A pipe gives what it has once, and whoever opens one without a writer waits for him.
		if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			return nil, &problem.Problem{
				Reason: problem.BadValue, Accepted: "a file, which can be read again", Message: fmt.Sprintf("%s is a pipe", path),
				Hint: "drover data put takes it, and prints a handle for name=data:HANDLE",
			}
		}
		return os.Open(path)
	}}
}

package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// prepare makes a request ready to be sent: it reads typed text and identifies files.
func (c *Client) prepare(ctx context.Context, service string, args []Arg) (*request, error) {
	return c.prepareBy(ctx, service, args, c.Describe)
}

// prepareBy is prepare with another source for the service's description.
func (c *Client) prepareBy(
	ctx context.Context, service string, args []Arg, describe func(context.Context, string) (*Service, error),
) (*request, error) {
	r := &request{service: service, owner: c.cfg.Owner, notify: func(*Job) {}}
	for _, a := range args {
		a(r)
	}
	if r.width != nil {
		if err := protorpc.CheckWidth(*r.width); err != nil {
			return nil, err
		}
	}
	if err := r.checkRerun(); err != nil {
		return nil, err
	}
	if err := r.checkOrder(); err != nil {
		return nil, err
	}
	if err := r.nameKept(); err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	text := slices.ContainsFunc(r.outputs, func(o output) bool { return o.typed })
	for _, a := range r.args {
		if seen[a.name] {
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: "request.arguments." + a.name, Accepted: "each argument once",
				Message: fmt.Sprintf("argument %s is given twice, accepted: once", a.name),
			}
		}
		seen[a.name] = true
		_, typed := a.value.(typed)
		text = text || typed
	}
	if text {
		described, err := describe(ctx, r.service)
		if err != nil {
			return nil, err
		}
		if err := r.read(described); err != nil {
			return nil, err
		}
	}
	for _, a := range r.args {
		if wrong, ok := a.value.(misfit); ok {
			return nil, wrong.err
		}
	}
	if err := c.lookUpStored(ctx, r); err != nil {
		return nil, err
	}
	for _, a := range r.args {
		if f, ok := a.value.(*file); ok {
			if err := f.identify(ctx); err != nil {
				return nil, fmt.Errorf("argument %s: %w", a.name, err)
			}
		}
	}
	return r, nil
}

// read replaces typed text by values of the argument's type. Text that does not fit
// stays text: the site refuses it and names what it accepts.
func (r *request) read(described *Service) error {
	r.args = slices.DeleteFunc(r.args, func(a argument) bool {
		text, ok := a.value.(typed)
		about := described.Argument(a.name)
		if ok && about != nil && about.Type.Written() && !about.Type.Sent() {
			r.outputs = append(r.outputs, output{argument: a.name, path: string(text)})
			return true
		}
		return false
	})
	for i := range r.args {
		if text, ok := r.args[i].value.(typed); ok {
			r.args[i].value = parse(string(text), described.Argument(r.args[i].name))
		}
	}
	return r.checkOutputs(described)
}

func parse(text string, about *Argument) any {
	if about == nil {
		return text
	}
	if s := storedIn(text, about); s != nil {
		return s
	}
	switch about.Type {
	case TypeInt:
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return v
		}
	case TypeFloat:
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
	case TypeBool:
		if v, err := strconv.ParseBool(text); err == nil {
			return v
		}
	case TypeFile, TypeFileInout:
		return fileAt(text)
	case TypeVector, TypeVectorInout, TypeMatrix, TypeMatrixInout:
		f, err := readArray(text, about)
		if err != nil {
			return misfit{err}
		}
		return f
	}
	return text
}

// wireRequest mirrors a drover.v1.Request.
type wireRequest struct {
	Service    string            `proto:"service"`
	Arguments  map[string]any    `proto:"arguments"`
	Owner      string            `proto:"owner"`
	Width      *int              `proto:"width"`
	Walltime   *time.Duration    `proto:"walltime"`
	Shapes     []Shape           `proto:"shapes"`
	Deadline   time.Time         `proto:"deadline"`
	Earliest   time.Time         `proto:"earliest_start"`
	Memory     int64             `proto:"memory_bytes"`
	CPU        float64           `proto:"cpu"`
	Licenses   []license         `proto:"licenses"`
	InputSite  string            `proto:"input_site"`
	Idempotent bool              `proto:"idempotent"`
	Labels     map[string]string `proto:"labels"`
	RetryOf    string            `proto:"retry_of"`
	Terms      *Terms            `proto:"agreement"`
	Into       string            `proto:"into"`
	Site       string            `proto:"site"`
	Keep       map[string]Kept   `proto:"keep"`
	After      []Dependency      `proto:"after"`
	Retries    int               `proto:"retries"`
	RetryOn    []int             `proto:"retry_on"`
}

// message returns the request as it is sent.
func (r *request) message() rpc.Request {
	if r.again != nil {
		return *r.again
	}
	m := wireRequest{
		Service: r.service, Arguments: make(map[string]any), Owner: r.owner, Width: r.width, Walltime: r.walltime,
		Shapes:   r.shapes,
		Deadline: r.deadline, Earliest: r.earliest, Memory: r.memory, CPU: r.cpu, Licenses: r.licenses,
		InputSite:  r.inputSite,
		Idempotent: r.idempotent, Labels: r.labels, RetryOf: r.retryOf, Terms: r.terms, Into: r.into, Site: r.site,
		Keep: make(map[string]Kept), After: r.after, Retries: r.retries, RetryOn: r.retryOn,
	}
	for _, a := range r.args {
		m.Arguments[a.name] = wireValue(a.value)
	}
	for _, k := range r.keep {
		m.Keep[k.argument] = Kept{ID: k.id, Mode: k.mode}
	}
	return rpc.NewRequest(m)
}

// wireValue returns an argument's value as it is sent.
func wireValue(v any) any {
	switch v := v.(type) {
	case *file:
		c := rpc.Content{SHA256: v.sha256, Size: v.size, Name: v.name}
		if v.block != nil {
			c.Element, c.Dimensions = string(v.block.Element), v.block.Dimensions
		}
		return c
	case *stored:
		return rpc.Content{
			Data: v.data.ID, Name: v.data.Name, Element: string(v.data.Element), Dimensions: v.data.Dimensions,
		}
	case typed:
		return string(v)
	}
	return v
}

// files returns the files that have to reach the site, each content once.
func (r *request) files() []*file {
	var files []*file
	seen := make(map[string]bool)
	for _, a := range r.args {
		if f, ok := a.value.(*file); ok && !seen[f.sha256] {
			seen[f.sha256] = true
			files = append(files, f)
		}
	}
	return files
}

// identify reads the content once, for its digest and size. It ends with ctx, because a
// device may have no end.
func (f *file) identify(ctx context.Context) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if f.size, err = io.CopyBuffer(h, while{ctx, r}, make([]byte, 128<<10)); err != nil {
		return err
	}
	f.sha256 = hex.EncodeToString(h.Sum(nil))
	return f.whole()
}

// while reads until its context ends.
type while struct {
	ctx context.Context //nolint:containedctx // it lives no longer than the call
	r   io.Reader
}

// Read is io.Reader's.
func (w while) Read(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.r.Read(b)
}

// checkOutputs refuses typed outputs that the service does not have.
func (r *request) checkOutputs(described *Service) error {
	for _, o := range r.outputs {
		if a := described.Argument(o.argument); !o.typed || a != nil && a.Type.Written() {
			continue
		}
		var names []string
		for i := range described.Arguments {
			if a := &described.Arguments[i]; a.Type.Written() {
				names = append(names, a.Name)
			}
		}
		accepted := "none: it has no outputs"
		if len(names) > 0 {
			accepted = "one of " + strings.Join(names, ", ")
		}
		return &problem.Problem{
			Reason: problem.UnknownOutput, Field: "request.arguments." + o.argument, Accepted: accepted,
			Message: fmt.Sprintf("service %s: output %q, accepted: %s", described.Name, o.argument, accepted),
		}
	}
	return nil
}

// whole refuses content of a size that does not fit its array.
func (f *file) whole() error {
	if f.block == nil {
		return nil
	}
	want, err := f.block.Bytes()
	if err == nil && f.size != want {
		err = &problem.Problem{
			Reason: problem.WrongDimensions, Accepted: fmt.Sprintf("%d bytes", want),
			Message: fmt.Sprintf("the content of %s has %d bytes", f.block, f.size),
		}
	}
	return err
}

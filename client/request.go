package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// prepare gathers a request and makes it ready to be sent: typed text is read
// and files are identified.
func (c *Client) prepare(ctx context.Context, service string, args []Arg) (*request, error) {
	r := &request{service: service, owner: c.cfg.Owner, notify: func(*Job) {}}
	for _, a := range args {
		a(r)
	}
	if r.width < 0 || r.width > math.MaxInt32 {
		return nil, &Error{
			Reason: "out-of-range", Field: "request.width", Accepted: "1 or more, 0 for the site's choice",
			Message: fmt.Sprintf("width %d, accepted: 1 or more, 0 for the site's choice", r.width),
		}
	}
	seen := make(map[string]bool)
	text := false
	for _, a := range r.args {
		if seen[a.name] {
			return nil, &Error{
				Reason: ReasonBadValue, Field: "request.arguments." + a.name, Accepted: "each argument once",
				Message: fmt.Sprintf("argument %s is given twice, accepted: once", a.name),
			}
		}
		seen[a.name] = true
		_, typed := a.value.(typed)
		text = text || typed
	}
	if text {
		if err := c.read(ctx, r); err != nil {
			return nil, err
		}
	}
	for _, a := range r.args {
		if f, ok := a.value.(*file); ok {
			if err := f.identify(); err != nil {
				return nil, fmt.Errorf("argument %s: %w", a.name, err)
			}
		}
	}
	return r, nil
}

// read replaces what a person typed by values of the service's types. What does
// not fit stays text: the site refuses it and says what it accepts.
func (c *Client) read(ctx context.Context, r *request) error {
	described, err := c.Service(ctx, r.service)
	if e, ok := errors.AsType[*Error](err); ok && e.Reason == reasonUnknownService {
		// An agent that is asked to map it can say more: what there is instead, or
		// that there is no site at all.
		_, mapped := ask(ctx, c, func(ctx context.Context, agent string) (ranking, error) {
			return c.rank(ctx, agent, "", &request{service: r.service})
		})
		return cmp.Or(mapped, err)
	}
	if err != nil {
		return err
	}
	r.args = slices.DeleteFunc(r.args, func(a argument) bool {
		text, ok := a.value.(typed)
		about := described.Argument(a.name)
		if ok && about != nil && about.Type == TypeFileOut {
			r.outputs = append(r.outputs, output{a.name, string(text)})
			return true
		}
		return false
	})
	for i := range r.args {
		if text, ok := r.args[i].value.(typed); ok {
			r.args[i].value = parse(string(text), described.Argument(r.args[i].name))
		}
	}
	return nil
}

func parse(text string, about *Argument) any {
	if about == nil {
		return text
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
	case TypeFile:
		return fileAt(text)
	}
	return text
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

// identify reads the content once, for its digest and size.
func (f *file) identify() error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if f.size, err = io.Copy(h, r); err != nil {
		return err
	}
	f.sha256 = hex.EncodeToString(h.Sum(nil))
	return nil
}

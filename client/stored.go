package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// Stored gives an argument data that stay at a site, as PutData, FindData or a Job's
// Kept name them; &Data{ID: handle} will do. A request goes where they are, or where it
// is finished first although they have to be brought there.
func Stored(name string, d *Data) Arg { return value(name, &stored{id: d.ID, data: d}) }

// storedPrefix begins a text that is a handle, or the beginning of one.
const storedPrefix = "data:"

// stored is the value of an argument that is data at a site.
type stored struct {
	id    string // as it was given: of Text maybe its beginning only
	typed bool   // it was
	data  *Data
}

// storedIn reads a handle that was typed for an argument which takes data; nil when it
// is none.
func storedIn(text string, about *Argument) *stored {
	id, ok := strings.CutPrefix(text, storedPrefix)
	if !ok || !about.Type.takesData() {
		return nil
	}
	return &stored{id: id, typed: true, data: &Data{ID: id}}
}

// takesData says whether an argument of this type can be given data that stay.
func (t ArgumentType) takesData() bool {
	switch t {
	case TypeInt, TypeFloat, TypeString, TypeBool:
		return false
	}
	return !strings.HasSuffix(string(t), "-out")
}

// lookUpStored finds out what is known of the data among the arguments.
func (c *Client) lookUpStored(ctx context.Context, r *request) error {
	for i := range r.args {
		s, ok := r.args[i].value.(*stored)
		if !ok || s.data.known() {
			continue
		}
		if s.id == "" || !s.typed {
			if err := checkHandle("request.arguments."+r.args[i].name, s.id); err != nil {
				return err
			}
		} else if err := beginsHandle(s.id); err != nil {
			return fmt.Errorf("argument %s: %w", r.args[i].name, err)
		}
		d, err := c.lookUp(ctx, s.id)
		if err != nil {
			return fmt.Errorf("argument %s: %w", r.args[i].name, err)
		}
		// The request's own: that of an Arg may be used by others.
		r.args[i].value = &stored{id: d.ID, data: d}
	}
	return nil
}

// beginsHandle refuses what no handle begins like.
func beginsHandle(text string) error {
	for i, c := range []byte(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if i >= 36 || dash != (c == '-') || !dash && !hex {
			return &problem.Problem{
				Reason: problem.BadValue, Field: "data_id", Accepted: "a handle or its beginning", Message: fmt.Sprintf("data %q", text),
				Hint: "drover data list shows what there is; a file whose name begins like this is given as ./" + storedPrefix + text,
			}
		}
	}
	return nil
}

// handles returns the data that a request uses, each once, by what to call them.
func (r *request) handles() map[string]string {
	names := make(map[string]string)
	if r.again != nil {
		names = r.again.Handles()
	}
	for _, a := range r.args {
		if s, ok := a.value.(*stored); ok {
			names[s.data.ID] = a.name
		}
	}
	return names
}

// supply has the data that a request uses be at a server. What is not there is brought
// by the server itself.
func (c *Client) supply(ctx context.Context, at submission.Target, r *request) error {
	names := r.handles()
	if len(names) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(names))
	there, err := c.dataAt(ctx, at.Address, ids)
	if err != nil {
		return err // another site may answer
	}
	for _, d := range there {
		delete(names, d.ID)
	}
	for _, id := range ids {
		name, missing := names[id]
		if !missing {
			continue
		}
		_, err := c.copyTo(ctx, at.Address, id, func(have, size int64) {
			if r.sending != nil {
				r.sending(name, have, size)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// storedThere mirrors a GetDataResponse.
type storedThere struct {
	Data []Data `proto:"data"`
}

// dataAt returns those of the data named that are at a server.
func (c *Client) dataAt(ctx context.Context, server string, ids []string) ([]Data, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	there, err := as[storedThere](c.conn.GetData(ctx, server, ids))
	if err != nil {
		return nil, err
	}
	return there.Data, nil
}

package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Stored sets an argument to data that stays at a site, as PutData, FindData or Job.Kept
// returned it; &Data{ID: handle} is enough. The request runs where the data is, or where
// it ends first including the time to copy the data.
func Stored(name string, d *Data) Arg { return value(name, &stored{id: d.ID, data: d}) }

// storedPrefix marks text as a handle, or a prefix of one.
const storedPrefix = "data:"

// stored is the value of an argument that is stored data.
type stored struct {
	id    string // as given; typed text may have a prefix only
	typed bool   // by a person
	data  *Data
}

// storedIn reads a typed handle for an argument that takes data, nil if the text is
// none.
func storedIn(text string, about *Argument) *stored {
	id, ok := strings.CutPrefix(text, storedPrefix)
	if !ok || !about.Type.takesData() {
		return nil
	}
	return &stored{id: id, typed: true, data: &Data{ID: id}}
}

// takesData reports whether an argument of this type can be stored data.
func (t ArgumentType) takesData() bool {
	switch t {
	case TypeInt, TypeFloat, TypeString, TypeBool:
		return false
	}
	return !strings.HasSuffix(string(t), "-out")
}

// lookUpStored finds the data among the arguments.
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
		// A copy, because other requests may use the Arg.
		r.args[i].value = &stored{id: d.ID, data: d}
	}
	return nil
}

// beginsHandle refuses text that is no prefix of a handle.
func beginsHandle(text string) error {
	for i, c := range []byte(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if i >= 36 || dash != (c == '-') || !dash && !hex {
			return &problem.Problem{
				Reason: problem.BadValue, Field: "data_id", Accepted: "a handle or its beginning",
				Message: fmt.Sprintf("data %q", text),
				Hint: "drover data list shows the handles; a file with such a name is given as ./" + storedPrefix +
					text,
			}
		}
	}
	return nil
}

// handles returns the data that a request uses: handle to argument.
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

// ensureData has the data that a request uses at a server. The server itself copies what
// is missing.
func (c *Client) ensureData(ctx context.Context, at submission.Target, r *request) error {
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

// dataAt returns which of these data a server has.
func (c *Client) dataAt(ctx context.Context, server string, ids []string) ([]Data, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	there, err := as[storedThere](c.conn.GetData(ctx, server, ids))
	if err != nil {
		return nil, err
	}
	return there.Data, nil
}

package gridrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/npy"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestArraysThroughALiveGrid(t *testing.T) {
	g := liveGrid(t)
	for name, test := range map[string]func(*testing.T, *Grid){
		"arrays go there and back":                                       arraysInMemory,
		"files of NumPy go there and back":                               arraysInFiles,
		"arrays by name, and what they become by Fetch":                  arraysByName,
		"arrays of nothing":                                              emptyArrays,
		"what is no array of the service's is refused":                   arrayMisfits,
		"an output that does not fit is refused and leaves its variable": arrayOutletMisfits,
	} {
		t.Run(name, func(t *testing.T) { test(t, g) })
	}
}

// three are a, v and c of a call.
func three() (a *client.Dense[float64], v []int32, c *client.Dense[float64]) {
	return &client.Dense[float64]{Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 4, 5, 6}}, []int32{-7, 8},
		&client.Dense[float64]{Rows: 2, Cols: 3, Data: []float64{9, 9, 9, 9, 9, 0.5}}
}

// encoded returns elements as they travel.
func encoded(t *testing.T, elements any) []byte {
	t.Helper()
	content, err := binary.Append(nil, binary.LittleEndian, elements)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// wantReason fails the test when an error is not a *problem.Problem of a reason.
func wantReason(t *testing.T, what string, err error, reason problem.Reason) {
	t.Helper()
	_ = reasonError(t, what, err, reason)
}

// reasonError is wantReason, and returns the error.
func reasonError(t *testing.T, what string, err error, reason problem.Reason) *problem.Problem {
	t.Helper()
	e, ok := errors.AsType[*problem.Problem](err)
	if !ok || e.Reason != reason {
		t.Errorf("%s: %v (%T), want %s", what, err, err, reason)
		return &problem.Problem{}
	}
	return e
}

func arraysInMemory(t *testing.T, g *Grid) {
	h := handleOf(t, g, "arrays")
	a, v, c := three()
	notes := []byte("it")
	var (
		twice  []int32
		before client.Dense[float64]
	)
	held := c.Data
	if err := h.Call(t.Context(), a, v, c, &notes, &twice, &before); err != nil {
		t.Fatal(err)
	}
	_, _, was := three()
	if !cmp.Equal(c, a) || !cmp.Equal(&before, was) || !slices.Equal(twice, v) || string(notes) != "it 2x3 changed" {
		t.Errorf("c %v, before %v, copy %v, notes %q", c, before, twice, notes)
	}
	if !slices.Equal(held, was.Data) {
		t.Errorf("the old slice has become %v", held)
	}
	// An io.Writer and a path get the block.
	path := filepath.Join(t.TempDir(), "before.raw")
	var w bytes.Buffer
	if err := h.Call(t.Context(), a, v, was, &notes, &w, path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if want := encoded(t, []float64{9, 9, 9, 9, 9, 0.5}); err != nil || !bytes.Equal(raw, want) {
		t.Errorf("%x, want %x (%v)", raw, want, err)
	}
	if want := encoded(t, v); !bytes.Equal(w.Bytes(), want) {
		t.Errorf("%x, want %x", w.Bytes(), want)
	}
}

func arraysInFiles(t *testing.T, g *Grid) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	a, v, c := three()
	save := func(name, element string, elements any, dimensions ...int64) {
		t.Helper()
		content, err := npy.Append(nil, element, dimensions)
		if err == nil {
			err = os.WriteFile(file(name), append(content, encoded(t, elements)...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range map[string]*client.Dense[float64]{"a.npy": a, "c.npy": c} {
		save(name, "float64", m.Data, int64(m.Rows), int64(m.Cols))
	}
	save("v.npy", "int32", v, int64(len(v)))
	if err := os.WriteFile(file("notes"), []byte("it"), 0o600); err != nil {
		t.Fatal(err)
	}
	were := map[string][]byte{}
	for _, name := range []string{"a.npy", "v.npy", "c.npy"} {
		were[name], _ = os.ReadFile(file(name))
	}
	h := handleOf(t, g, "arrays")
	if err := h.Call(t.Context(), file("a.npy"), file("v.npy"), file("c.npy"), file("notes"), file("copy.npy"),
		file("before.npy")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"a.npy": were["a.npy"], "c.npy": were["a.npy"], "before.npy": were["c.npy"], "copy.npy": were["v.npy"],
		"notes": []byte("it 2x3 changed"),
	} {
		if got, err := os.ReadFile(file(name)); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
}

func arraysByName(t *testing.T, g *Grid) {
	a, v, c := three()
	cl := g.Client()
	path := filepath.Join(t.TempDir(), "c.npy")
	job, err := cl.Call(t.Context(), "arrays", client.Matrix("a", a), client.Vector("v", v), client.Matrix("c", c),
		client.Content("notes", nil), client.OutputTo("c", path))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := client.OpenNPY(path); err != nil || b.String() != "2 x 3 of float64" {
		t.Errorf("%s, %v", &b, err)
	}
	var got client.Dense[float64]
	if err := cl.Fetch(t.Context(), job.ID, "c", &got); err != nil || !cmp.Equal(&got, a) {
		t.Errorf("%v, %v", got, err)
	}
	var note []byte
	if err := cl.Fetch(t.Context(), job.ID, "notes", &note); err != nil || string(note) != " 2x3 changed" {
		t.Errorf("%q, %v", note, err)
	}
	if job.Arguments["a"] != "2 x 3 of float64" || job.Arguments["v"] != "2 of int32" {
		t.Errorf("%v", job.Arguments)
	}
	i := slices.IndexFunc(job.Outputs, func(o client.Output) bool { return o.Argument == "c" })
	if i < 0 || job.Outputs[i].Element != client.Float64 || !slices.Equal(job.Outputs[i].Dimensions, []int64{2, 3}) ||
		job.Outputs[i].Size != 48 {
		t.Errorf("%+v", job.Outputs)
	}
	// As text.
	job, err = cl.Call(t.Context(), "arrays", client.Text("a", "1,2"), client.Text("v", "3"), client.Text("c", "4,5"),
		client.Content("notes", nil), client.TextOutput("before", path))
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.Fetch(t.Context(), job.ID, "before", &got); err != nil ||
		!cmp.Equal(got, client.Dense[float64]{Rows: 1, Cols: 2, Data: []float64{4, 5}}) {
		t.Errorf("%v, %v", got, err)
	}
	wantReason(t, "no output of this name", errors.Join(cl.Fetch(t.Context(), job.ID, "befor", &got)), "unknown-output")
}

func emptyArrays(t *testing.T, g *Grid) {
	h := handleOf(t, g, "arrays")
	a, c := client.NewDense[float64](0, 3), client.NewDense[float64](0, 3)
	twice, before := []int32{1}, client.Dense[float64]{Rows: 1, Cols: 1, Data: []float64{1}}
	if err := h.Call(t.Context(), a, []int32{}, c, new([]byte), &twice, &before); err != nil {
		t.Fatal(err)
	}
	if len(twice) != 0 || len(before.Data) != 0 || before.Rows != 0 || before.Cols != 3 {
		t.Errorf("copy %v, before %+v", twice, before)
	}
}

func arrayMisfits(t *testing.T, g *Grid) {
	h := handleOf(t, g, "arrays")
	a, v, c := three()
	notes, doubles := []byte{}, []float64{}
	for at, bad := range [][]any{
		{
			[]float64{1},
			&client.Dense[float32]{}, &client.Dense[float64]{Rows: 2, Cols: 2}, *a, "no matrix",
			[][]float64{{1}},
			1.0,
		},
		{[]float64{1}, []int{1}, a, "1;2", &v},
		{*c, v, client.NewDense[int64](2, 3), &v},
		{notes, a, &v, 1},
		{&doubles, a, notes, 1, &notes},
		{a.Data, &doubles, &notes, &client.Dense[float32]{}},
	} {
		for _, value := range bad {
			args := []any{a, v, c, &notes, &v, a}
			args[at] = value
			e := codeError(t, h.Service().Arguments[at].Name, h.Call(t.Context(), args...), RPCRefused)
			if refused, ok := errors.AsType[*problem.Problem](e); !ok ||
				refused.Field != "request.arguments."+h.Service().Arguments[at].Name || refused.Accepted == "" {
				t.Errorf("%T for %s: %#v", value, h.Service().Arguments[at].Name, refused)
			}
		}
	}
	// What depends on other arguments is for the site to refuse, before anything is sent.
	e := codeError(t, "c of another size than a", h.Call(t.Context(), a, v, client.NewDense[float64](3, 2), &notes),
		RPCRefused)
	wantReason(t, "c of another size than a", e, problem.WrongDimensions)
	_, err := g.Client().Submit(t.Context(), "arrays", client.Matrix("a", client.NewDense[float32](1, 1)),
		client.Vector("v", v), client.Matrix("c", c), client.Content("notes", nil))
	wantReason(t, "another type of elements", err, problem.WrongType)
	_, err = g.Client().Submit(t.Context(), "arrays", client.Matrix("a", a), client.Vector("v", v),
		client.Matrix("c", c), client.Content("notes", nil), client.TextOutput("a", "x"))
	if refused := reasonError(t, "an output that is none", err,
		"unknown-output"); refused.Accepted != "one of c, notes, copy, before" {
		t.Errorf("accepted: %s", refused.Accepted)
	}
}

func arrayOutletMisfits(t *testing.T, g *Grid) {
	a, v, _ := three()
	cl := g.Client()
	job, err := cl.Call(t.Context(), "arrays", client.Matrix("a", a), client.Vector("v", v), client.Matrix("c", a),
		client.Content("notes", nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]any{
		"a matrix into a vector":    new([]float64),
		"float64 into float32":      new(client.Dense[float32]),
		"a matrix into bytes":       new([]byte),
		"nothing":                   nil,
		"a nil pointer":             (*client.Dense[float64])(nil),
		"what takes nothing at all": 7,
	} {
		if err := cl.Fetch(t.Context(), job.ID, "c", into); problem.ReasonOf(err) != problem.WrongType {
			t.Errorf("%s: %v", name, err)
		}
	}
}

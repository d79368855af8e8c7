package client

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client/npy"
)

func TestArraysThroughALiveGrid(t *testing.T) {
	g := liveGrid(t)
	for name, test := range map[string]func(*testing.T, *Grid){
		"arrays go there and back":                       arraysInMemory,
		"files of NumPy go there and back":               arraysInFiles,
		"arrays by name, and what they become by Fetch":  arraysByName,
		"arrays of nothing":                              emptyArrays,
		"what is no array of the service's is refused":   arrayMisfits,
		"what cannot be filled is told, and left as was": arrayOutletMisfits,
	} {
		t.Run(name, func(t *testing.T) { test(t, g) })
	}
}

// three are a, v and c of a call.
func three() (a *Dense[float64], v []int32, c *Dense[float64]) {
	return &Dense[float64]{2, 3, []float64{1, 2, 3, 4, 5, 6}}, []int32{-7, 8}, &Dense[float64]{2, 3, []float64{9, 9, 9, 9, 9, 0.5}}
}

func arraysInMemory(t *testing.T, g *Grid) {
	h := g.handle(t, "arrays")
	a, v, c := three()
	notes := []byte("it")
	var (
		twice  []int32
		before Dense[float64]
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
		t.Errorf("what somebody else holds has become %v", held)
	}
	// An io.Writer and a path get the block.
	path := filepath.Join(t.TempDir(), "before.raw")
	var w bytes.Buffer
	if err := h.Call(t.Context(), a, v, was, &notes, &w, path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if want := contentOfBlock(t, mustBlock([][]float64{{9, 9, 9}, {9, 9, 0.5}})); err != nil || !bytes.Equal(raw, want) {
		t.Errorf("%x, want %x (%v)", raw, want, err)
	}
	if want := contentOfBlock(t, vectorBlock(v)); !bytes.Equal(w.Bytes(), want) {
		t.Errorf("%x, want %x", w.Bytes(), want)
	}
}

func arraysInFiles(t *testing.T, g *Grid) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	a, v, c := three()
	save := func(name string, b Block) {
		t.Helper()
		content, err := npy.Append(nil, string(b.Element), b.Dimensions)
		if err == nil {
			err = os.WriteFile(file(name), append(content, contentOfBlock(t, b)...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range map[string]*Dense[float64]{"a.npy": a, "c.npy": c} {
		b, err := m.block()
		if err != nil {
			t.Fatal(err)
		}
		save(name, b)
	}
	save("v.npy", vectorBlock(v))
	if err := os.WriteFile(file("notes"), []byte("it"), 0o600); err != nil {
		t.Fatal(err)
	}
	were := map[string][]byte{}
	for _, name := range []string{"a.npy", "v.npy", "c.npy"} {
		were[name], _ = os.ReadFile(file(name))
	}
	h := g.handle(t, "arrays")
	if err := h.Call(t.Context(), file("a.npy"), file("v.npy"), file("c.npy"), file("notes"), file("copy.npy"), file("before.npy")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"a.npy": were["a.npy"], "c.npy": were["a.npy"], "before.npy": were["c.npy"], "copy.npy": were["v.npy"], "notes": []byte("it 2x3 changed"),
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
	job, err := cl.Call(t.Context(), "arrays", Matrix("a", a), Vector("v", v), Matrix("c", c), Content("notes", nil), OutputTo("c", path))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := OpenNPY(path); err != nil || b.String() != "2 x 3 of float64" {
		t.Errorf("%s, %v", &b, err)
	}
	var got Dense[float64]
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
	i := slices.IndexFunc(job.Outputs, func(o Output) bool { return o.Argument == "c" })
	if i < 0 || job.Outputs[i].Element != Float64 || !slices.Equal(job.Outputs[i].Dimensions, []int64{2, 3}) || job.Outputs[i].Size != 48 {
		t.Errorf("%+v", job.Outputs)
	}
	// As text.
	job, err = cl.Call(t.Context(), "arrays", Text("a", "1,2"), Text("v", "3"), Text("c", "4,5"), Content("notes", nil), TextOutput("before", path))
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.Fetch(t.Context(), job.ID, "before", &got); err != nil || !cmp.Equal(got, Dense[float64]{1, 2, []float64{4, 5}}) {
		t.Errorf("%v, %v", got, err)
	}
	wantReason(t, "no output of this name", errors.Join(cl.Fetch(t.Context(), job.ID, "befor", &got)), "unknown-output")
}

func emptyArrays(t *testing.T, g *Grid) {
	h := g.handle(t, "arrays")
	a, c := NewDense[float64](0, 3), NewDense[float64](0, 3)
	twice, before := []int32{1}, Dense[float64]{1, 1, []float64{1}}
	if err := h.Call(t.Context(), a, []int32{}, c, new([]byte), &twice, &before); err != nil {
		t.Fatal(err)
	}
	if len(twice) != 0 || len(before.Data) != 0 || before.Rows != 0 || before.Cols != 3 {
		t.Errorf("copy %v, before %+v", twice, before)
	}
}

func arrayMisfits(t *testing.T, g *Grid) {
	h := g.handle(t, "arrays")
	a, v, c := three()
	notes, doubles := []byte{}, []float64{}
	for at, bad := range [][]any{
		{[]float64{1}, &Dense[float32]{}, &Dense[float64]{Rows: 2, Cols: 2}, *a, "no matrix", [][]float64{{1}}, 1.0},
		{[]float64{1}, []int{1}, a, "1;2", &v},
		{*c, v, NewDense[int64](2, 3), &v},
		{notes, a, &v, 1},
		{&doubles, a, notes, 1, &notes},
		{a.Data, &doubles, &notes, &Dense[float32]{}},
	} {
		for _, value := range bad {
			args := []any{a, v, c, &notes, &v, a}
			args[at] = value
			e := codeError(t, h.Service().Arguments[at].Name, h.Call(t.Context(), args...), RPCRefused)
			if refused, ok := errors.AsType[*problem.Problem](e); !ok || refused.Field != "request.arguments."+h.Service().Arguments[at].Name || refused.Accepted == "" {
				t.Errorf("%T for %s: %#v", value, h.Service().Arguments[at].Name, refused)
			}
		}
	}
	// What depends on other arguments is for the site to refuse, before anything is sent.
	e := codeError(t, "c of another size than a", h.Call(t.Context(), a, v, NewDense[float64](3, 2), &notes), RPCRefused)
	wantReason(t, "c of another size than a", e, problem.WrongDimensions)
	_, err := g.Client().Submit(t.Context(), "arrays", Matrix("a", NewDense[float32](1, 1)), Vector("v", v), Matrix("c", c), Content("notes", nil))
	wantReason(t, "another type of elements", err, problem.WrongType)
	_, err = g.Client().Submit(t.Context(), "arrays", Matrix("a", a), Vector("v", v), Matrix("c", c), Content("notes", nil), TextOutput("a", "x"))
	if refused := reasonError(t, "an output that is none", err, "unknown-output"); refused.Accepted != "one of c, notes, copy, before" {
		t.Errorf("accepted: %s", refused.Accepted)
	}
}

func arrayOutletMisfits(t *testing.T, g *Grid) {
	a, v, _ := three()
	cl := g.Client()
	job, err := cl.Call(t.Context(), "arrays", Matrix("a", a), Vector("v", v), Matrix("c", a), Content("notes", nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]any{
		"a matrix into a vector":    new([]float64),
		"float64 into float32":      new(Dense[float32]),
		"a matrix into bytes":       new([]byte),
		"nothing":                   nil,
		"a nil pointer":             (*Dense[float64])(nil),
		"what takes nothing at all": 7,
	} {
		if err := cl.Fetch(t.Context(), job.ID, "c", into); problem.ReasonOf(err) != problem.WrongType {
			t.Errorf("%s: %v", name, err)
		}
	}
}

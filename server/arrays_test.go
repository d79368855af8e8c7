package server

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// arraysYAML defines services with vectors and matrices. Their shell commands only
// concatenate raw blocks.
const arraysYAML = `
    - name: stack
      doc: Puts rows below rows, doubles a vector, and appends to a file.
      args:
        - {name: top, type: matrix}
        - {name: below, type: matrix, dims: [below.rows, top.cols]}
        - {name: x, type: vector-inout, element: int32}
        - {name: whole, type: matrix-out, dims: [top.rows + below.rows, top.cols]}
        - {name: both, type: vector-out, element: int32, dims: [2 * x.length]}
        - {name: journal, type: file-inout}
        - {name: cut, type: int, default: 0}
      command: [sh, -c, 'cat "$0" "$1" > "$3"; cat "$2" "$2" | head -c "$(($6 - $7))" > "$4"; echo "$8" >> "$5"; printf "\7" | dd of="$2" conv=notrunc 2> /dev/null',
        "{top}", "{below}", "{x}", "{whole}", "{both}", "{journal}", "{both.size}", "{cut}",
        "{top.rows}x{top.cols} {below.rows} {x.length}"]
      model: {fixed: {width: 1, time: 30 + top.rows}}
    - name: lazy
      doc: Removes its vector, and writes nothing.
      args: [{name: x, type: vector-inout}, {name: y, type: vector-out, dims: [3]}]
      command: [rm, "{x}"]
      model: {fixed: {width: 1, time: 30s}}
`

// float64s encodes values as a block.
func float64s(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// array uploads a block and returns an argument for it.
func (s *testSite) array(t testing.TB, data []byte, e droverv1.ElementType, dims ...int64) *droverv1.Value {
	t.Helper()
	f, err := s.upload(within(t), data)
	if err != nil {
		t.Fatal(err)
	}
	return &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
		Content: f, Element: e,
		Dimensions: dims,
	}}}
}

const (
	ofFloat64 = droverv1.ElementType_ELEMENT_TYPE_FLOAT64
	ofInt32   = droverv1.ElementType_ELEMENT_TYPE_INT32
)

// stacked returns arguments of the service stack.
func (s *testSite) stacked(t testing.TB) arguments {
	t.Helper()
	f, err := s.upload(within(t), []byte("begun\n"))
	if err != nil {
		t.Fatal(err)
	}
	return arguments{
		"top":   s.array(t, float64s(1, 2, 3, 4, 5, 6), ofFloat64, 2, 3),
		"below": s.array(t, float64s(7, 8, 9), ofFloat64, 1, 3),
		"x":     s.array(t, []byte{1, 0, 0, 0, 2, 0, 0, 0}, ofInt32, 2), "journal": file(f),
	}
}

func TestJobReadsAndWritesArrays(t *testing.T) {
	s := start(t, configured(t, arraysYAML))
	j := s.submit(t, &droverv1.Request{Service: "stack", Arguments: s.stacked(t)})
	done := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	want := map[string]*droverv1.Output{
		"whole":   {SizeBytes: 72, Element: ofFloat64, Dimensions: []int64{3, 3}},
		"both":    {SizeBytes: 16, Element: ofInt32, Dimensions: []int64{4}},
		"x":       {SizeBytes: 8, Element: ofInt32, Dimensions: []int64{2}},
		"journal": {SizeBytes: int64(len("begun\n2x3 1 2\n"))},
	}
	for _, o := range done.GetOutputs() {
		w := want[o.GetArgument()]
		if o.GetSizeBytes() != w.GetSizeBytes() || o.GetElement() != w.GetElement() ||
			cmp.Diff(w.GetDimensions(), o.GetDimensions()) != "" || o.GetSha256() == "" {
			t.Errorf("output %v, want %v", o, w)
		}
	}
	if len(done.GetOutputs()) != len(want) {
		t.Errorf("outputs: %v", done.GetOutputs())
	}
	for name, want := range map[string][]byte{
		"whole": float64s(1, 2, 3, 4, 5, 6, 7, 8, 9), "both": {1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0},
		"x": {7, 0, 0, 0, 2, 0, 0, 0}, "journal": []byte("begun\n2x3 1 2\n"),
	} {
		if got, err := s.download(within(t), j.GetId(), name, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := s.download(within(t), j.GetId(), "top", 0); err == nil {
		t.Error("an input was served as an output")
	}
	// The stored input is unchanged: other jobs share the same content.
	kept, err := os.ReadFile(filepath.Join(s.data.Job(batch.JobID(j.GetId())), "inout", "x"))
	if err != nil || !bytes.Equal(kept, []byte{1, 0, 0, 0, 2, 0, 0, 0}) {
		t.Errorf("stored input: %v, %v", kept, err)
	}
	if got := done.GetRequest().GetArguments()["top"].GetArrayValue(); got.GetElement() != ofFloat64 ||
		cmp.Diff([]int64{2, 3}, got.GetDimensions()) != "" || got.GetContent().GetSizeBytes() != 48 {
		t.Errorf("array in the request: %v", got)
	}
}

func TestOutputArrayOfTheWrongSizeFailsTheJob(t *testing.T) {
	s := start(t, configured(t, arraysYAML))
	given := s.stacked(t)
	given["cut"] = number(3)
	short := s.submit(t, &droverv1.Request{Service: "stack", Arguments: given})
	j := s.until(t, short.GetId(), droverv1.JobState_JOB_STATE_FAILED)
	if got, want := j.GetOutcome().GetReason(),
		"output both has 13 bytes: expected 4 of int32, 16 bytes"; got != want || j.GetOutcome().GetExitCode() != 0 {
		t.Errorf("reason %q, want %q", got, want)
	}
	for _, o := range j.GetOutputs() {
		if described := len(o.GetDimensions()) > 0; described != (o.GetArgument() == "whole" ||
			o.GetArgument() == "x") {
			t.Errorf("output %v", o)
		}
	}
	if got, err := s.download(within(t), short.GetId(), "both", 0); err != nil || len(got) != 13 {
		t.Errorf("download of both: %d bytes, %v; want 13 bytes", len(got), err)
	}
	lazy := s.submit(t, &droverv1.Request{Service: "lazy", Arguments: arguments{"x": s.array(t, float64s(1),
		ofFloat64, 1)}})
	want := "output x is missing: expected 1 of float64, 8 bytes; output y is missing: expected 3 of float64, 24 bytes"
	if j := s.until(t, lazy.GetId(), droverv1.JobState_JOB_STATE_FAILED); j.GetOutcome().GetReason() != want ||
		len(j.GetOutputs()) != 0 {
		t.Errorf("%v, want %q", j.GetOutcome(), want)
	}
}

func TestSubmitRefusesInvalidArrays(t *testing.T) {
	s := start(t, configured(t, arraysYAML))
	good := s.stacked(t)
	six := float64s(1, 2, 3, 4, 5, 6)
	missing := s.array(t, six, ofFloat64, 2, 3)
	missing.GetArrayValue().GetContent().Sha256 = sum([]byte("content that was never uploaded"))
	unnamed := s.array(t, six, ofFloat64, 2, 3)
	unnamed.GetArrayValue().GetContent().Sha256 = ""
	for name, tc := range map[string]struct {
		argument      string
		value         *droverv1.Value
		reason, field string
		accepted      string
	}{
		"other columns": {
			"below", s.array(t, six, ofFloat64, 3, 2), "wrong-dimensions", "below",
			"3 x 3, by its dims below.rows x top.cols",
		},
		"another size": {
			"top", s.array(t, six, ofFloat64, 2, 4), "wrong-dimensions", "top",
			"64 bytes for 2 x 4 of float64",
		},
		"a vector":        {"top", s.array(t, six, ofFloat64, 6), "wrong-type", "top", "a matrix of float64"},
		"another element": {"top", s.array(t, six, ofInt32, 2, 6), "wrong-type", "top", "a matrix of float64"},
		"no element":      {"top", s.array(t, six, 0, 2, 3), "wrong-type", "top", "a matrix of float64"},
		"unknown element": {"top", s.array(t, six, 77, 2, 3), "wrong-type", "top", "a matrix of float64"},
		"no dimensions": {
			"top", s.array(t, six, ofFloat64), "wrong-dimensions", "top",
			"1 dimension of a vector, 2 of a matrix",
		},
		"three dimensions": {
			"top", s.array(t, six, ofFloat64, 1, 2, 3), "wrong-dimensions", "top",
			"1 dimension of a vector, 2 of a matrix",
		},
		"negative dimensions": {
			"top", s.array(t, six, ofFloat64, -2, -3), "wrong-dimensions", "top",
			"dimensions of at least 0",
		},
		"an overflow": {
			"top", s.array(t, six, ofFloat64, 1<<62, 1<<62), "wrong-dimensions", "top",
			"at most 2^53 elements",
		},
		"a file": {"top", good["journal"], "wrong-type", "top", "a matrix of float64"},
		"empty value": {
			"top", &droverv1.Value{Kind: &droverv1.Value_ArrayValue{}}, "wrong-dimensions", "top",
			"2 of a matrix",
		},
		"unknown content": {"top", missing, "unknown-content", "top", "content that was uploaded"},
		"missing content": {"top", unnamed, "bad-value", "top", "a file with its sha256"},
	} {
		given := arguments{}
		for k, v := range good {
			given[k] = v
		}
		given[tc.argument] = tc.value
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
			JobId:   newID(t),
			Request: &droverv1.Request{Service: "stack", Arguments: given},
		})
		_, d := detail(t, err)
		if d.GetReason() != tc.reason || d.GetField() != "request.arguments."+tc.field ||
			!strings.Contains(d.GetAccepted(), tc.accepted) {
			t.Errorf("%s: %v", name, d)
		}
		if tc.reason == "wrong-dimensions" && connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEstimateNeedsDimensionsButNoContent(t *testing.T) {
	s := start(t, configured(t, arraysYAML))
	of := func(e droverv1.ElementType, dims ...int64) *droverv1.Value {
		return &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
			Element: e, Dimensions: dims,
		}}}
	}
	res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{
		Service: "stack",
		Arguments: arguments{
			"top": of(ofFloat64, 40, 3), "below": of(ofFloat64, 1, 3), "x": of(ofInt32, 2), "journal": file(nil),
		},
	}})
	if err != nil || res.GetQuote().GetWalltime().GetSeconds() != 88 { // (30 + 40) * 1.25
		t.Errorf("%v, %v", res, err)
	}
}

func TestCatalogueDescribesArrays(t *testing.T) {
	s := start(t, configured(t, arraysYAML))
	res, err := s.client.Describe(within(t), &droverv1.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range res.GetServices() {
		if service.GetName() != "stack" {
			continue
		}
		got := make(map[string]*droverv1.Argument)
		for _, a := range service.GetArguments() {
			got[a.GetName()] = a
		}
		if a := got["whole"]; a.GetType() != droverv1.ArgumentType_ARGUMENT_TYPE_MATRIX_OUT ||
			a.GetElement() != ofFloat64 || a.GetRequired() ||
			cmp.Diff([]string{"top.rows + below.rows", "top.cols"}, a.GetDimensions()) != "" {
			t.Errorf("%v", a)
		}
		if a := got["x"]; a.GetType() != droverv1.ArgumentType_ARGUMENT_TYPE_VECTOR_INOUT ||
			a.GetElement() != ofInt32 ||
			!a.GetRequired() || a.GetDimensions() != nil {
			t.Errorf("%v", a)
		}
		if a := got["journal"]; a.GetType() != droverv1.ArgumentType_ARGUMENT_TYPE_FILE_INOUT || a.GetElement() != 0 {
			t.Errorf("%v", a)
		}
		return
	}
	t.Error("service not in the catalogue")
}

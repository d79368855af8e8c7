package rpc

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// FuzzArrayOnTheWire: what is taken comes back as it was, and goes to another server with
// a job that moves; all else is refused by name.
func FuzzArrayOnTheWire(f *testing.F) {
	for _, a := range []*droverv1.Array{
		nil,
		{
			Element: droverv1.ElementType_ELEMENT_TYPE_FLOAT64, Dimensions: []int64{3},
			Content: &droverv1.File{Sha256: "ab", SizeBytes: 24, Name: "x", DataId: "d"},
		},
		{Element: droverv1.ElementType_ELEMENT_TYPE_INT32, Dimensions: []int64{-1, 1 << 62}},
		{Element: 77, Dimensions: []int64{1, 2, 3}},
	} {
		text, err := proto.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a := &droverv1.Array{}
		if proto.Unmarshal(text, a) != nil {
			return
		}
		v, err := arrayIn("a", a)
		if taken := len(a.GetDimensions()) == 1 || len(a.GetDimensions()) == 2; taken != (err == nil) {
			t.Fatalf("%v: %v", a, err)
		}
		if err != nil {
			var p *problem.Problem
			if !errors.As(err, &p) || p.Reason != problem.WrongDimensions || p.Field != "request.arguments.a" ||
				p.Accepted == "" {
				t.Fatalf("%v: %v", a, err)
			}
			return
		}
		again, err := arrayIn("a", arrayOut(v))
		if err != nil || again != v {
			t.Fatalf("%v: came back as %v, %v", a, again, err)
		}
	})
}

package rpc_test

import (
	"errors"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func TestPageSizeRefusesValuesOutOfRange(t *testing.T) {
	for asked, want := range map[int32]int{0: rpc.DefaultPage, 1: 1, rpc.LargestPage: rpc.LargestPage} {
		if n, err := rpc.PageSize(asked); n != want || err != nil {
			t.Errorf("%d: %d, %v", asked, n, err)
		}
	}
	for _, asked := range []int32{-1, rpc.LargestPage + 1} {
		_, err := rpc.PageSize(asked)
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Field != "page_size" ||
			p.Reason != problem.OutOfRange {
			t.Errorf("%d: %v", asked, err)
		}
	}
}

func FuzzTokensRoundTrip(f *testing.F) {
	type position struct {
		Name string `json:"n"`
		At   int64  `json:"a"`
	}
	f.Add("lyon", int64(7), "%")
	f.Add("", int64(-1), "YWJj")
	f.Fuzz(func(t *testing.T, name string, at int64, junk string) {
		var sent, got position
		// What is not UTF-8 is no name: JSON replaces it.
		if err := rpc.ParseToken(rpc.Token(position{name, at}), &sent); err != nil || sent.At != at {
			t.Fatalf("%+v, %v", sent, err)
		}
		if err := rpc.ParseToken(rpc.Token(sent), &got); err != nil || got != sent {
			t.Errorf("%+v came back as %+v, %v", sent, got, err)
		}
		if err := rpc.ParseToken(junk, &got); err != nil {
			if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Field != "page_token" {
				t.Errorf("%q: %v", junk, err)
			}
		}
	})
}

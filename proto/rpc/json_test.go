package rpc_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func TestTheJSONOfAProblemIsThatOfItsMessage(t *testing.T) {
	for _, p := range []*problem.Problem{
		{},
		{
			Reason: problem.TooWide, Field: "request.width", Accepted: "1..64", Message: "9 <\"", Hint: "less",
			Retryable: true,
		},
		{Offer: &problem.Offer{}},
		{Offer: &problem.Offer{Site: "a", Wait: 4 * time.Second, Completion: 1500 * time.Millisecond, Width: 3}},
		{Offer: &problem.Offer{Wait: 1001 * time.Microsecond, Completion: -1500 * time.Millisecond}},
		{Offer: &problem.Offer{Wait: math.MaxInt64, Completion: math.MinInt64 + 1}},
		{Offer: &problem.Offer{Wait: 1, Completion: -time.Hour}},
	} {
		wire, err := protojson.Marshal(rpc.DetailOf(p))
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(json.RawMessage(wire)) // without the random spaces of protojson
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(p); err != nil || string(got) != string(want) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

package mapping

import (
	"testing"

	"pgregory.net/rapid"
)

func TestClaimsAreOrderedByEpochThenByStepOfTheMove(t *testing.T) {
	// From the least to the greatest.
	rising := []Claim{
		{Site: "s", State: Waiting, Epoch: 1},
		{Site: "s", State: Gone, Epoch: 2, To: "t"},
		{Site: "t", State: Incoming, Epoch: 2},
		{Site: "s", State: Moving, Epoch: 2, Silent: true},
		{Site: "s", State: Yielding, Epoch: 2},
		{Site: "s", State: Waiting, Epoch: 2, Silent: true},
		{Site: "t", State: Running, Epoch: 2},
		{Site: "s", State: Cancelled, Epoch: 2}, // cannot be beside the one before: the first name
		{Site: "u", State: Gone, Epoch: 3, To: "s"},
		{Site: "s", State: Incoming, Epoch: 3, Silent: true},
		{Site: "u", State: Moving, Epoch: 3},
		{Site: "s", State: Held, Epoch: 3},
	}
	for i, a := range rising {
		for j, b := range rising {
			got := CompareClaims(a, b)
			if want := i - j; got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Errorf("%+v against %+v: %d", a, b, got)
			}
		}
	}
}

func TestLocateReturnsTheGreatestClaim(t *testing.T) {
	for _, c := range []struct {
		name   string
		claims []Claim
		silent string // names of silent sites, a letter each
		best   int
		site   string
	}{
		{"no claim", nil, "", -1, ""},
		{"the source before the commit", []Claim{
			{Site: "s", State: Yielding, Epoch: 1}, {Site: "t", State: Incoming, Epoch: 1},
		}, "", 0, "s"},
		{"the target after it", []Claim{
			{Site: "s", State: Gone, Epoch: 1, To: "t"}, {Site: "t", State: Incoming, Epoch: 1},
		}, "", 1, "t"},
		{"the source after an abort", []Claim{
			{Site: "s", State: Waiting, Epoch: 1}, {Site: "t", State: Incoming, Epoch: 1},
		}, "", 0, "s"},
		{"gone to a silent site", []Claim{{Site: "s", State: Gone, Epoch: 1, To: "t"}}, "t", 0, "t"},
		{"gone to one that is silent and remembered", []Claim{
			{Site: "s", State: Gone, Epoch: 1, To: "t"}, {Site: "t", State: Running, Epoch: 1, Silent: true},
		}, "t", 1, "t"},
		{"gone to one that knows nothing", []Claim{{Site: "s", State: Gone, Epoch: 1, To: "t"}}, "", 0, "s"},
		{"remembered of a silent site that sent it on", []Claim{
			{Site: "s", State: Gone, Epoch: 1, To: "t", Silent: true}, {Site: "t", State: Waiting, Epoch: 1},
		}, "s", 1, "t"},
		{"silent source, target still waits for its word", []Claim{
			{Site: "s", State: Moving, Epoch: 1, Silent: true}, {Site: "t", State: Incoming, Epoch: 1},
		}, "s", 0, "s"},
		{"silent source with an old claim", []Claim{
			{Site: "s", State: Waiting, Epoch: 0, Silent: true}, {Site: "t", State: Incoming, Epoch: 1},
		}, "s", 1, "t"},
	} {
		best, site := Locate(c.claims, func(site string) bool { return site == c.silent })
		if best != c.best || site != c.site {
			t.Errorf("%s: claim %d, at %q; want %d, %q", c.name, best, site, c.best, c.site)
		}
	}
}

func TestLocateIgnoresTheOrderOfClaims(t *testing.T) {
	claim := rapid.Custom(func(t *rapid.T) Claim {
		return Claim{
			State: State(rapid.IntRange(0, int(Incoming)).Draw(t, "state")),
			Epoch: uint32(rapid.IntRange(0, 2).Draw(t, "epoch")), Silent: rapid.Bool().Draw(t, "silent"), To: "x",
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		claims := rapid.SliceOfN(claim, 1, 6).Draw(t, "claims")
		for i := range claims {
			claims[i].Site = string(rune('a' + i))
		}
		silent := func(string) bool { return true }
		i, site := Locate(claims, silent)
		again := rapid.Permutation(claims).Draw(t, "order")
		j, other := Locate(again, silent)
		if claims[i] != again[j] || site != other {
			t.Fatalf("%+v at %s, then %+v at %s", claims[i], site, again[j], other)
		}
	})
}

func TestStatesHaveNames(t *testing.T) {
	if got := Incoming.String() + " " + Waiting.String() + " " + State(99).String(); got != "incoming waiting unsaid" {
		t.Error(got)
	}
}

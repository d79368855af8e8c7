package pool

import (
	"pgregory.net/rapid"
)

// plan is the list of events in a world. It can be stored in testdata.
type plan struct {
	Seed  uint64 `json:"seed"`  // of the delays
	Drift []int  `json:"drift"` // of each machine's clock, per mille
	Steps []step `json:"steps"`
}

// step is one event. Times are milliseconds.
type step struct {
	After   int    `json:"after"` // time since the previous step
	Do      string `json:"do"`
	Node    int    `json:"node,omitempty"`
	For     int    `json:"for,omitempty"`
	Ways    int    `json:"ways,omitempty"` // cut: 1 requests, 2 answers, 3 both
	Holds   bool   `json:"holds,omitempty"`
	How     int    `json:"how,omitempty"`
	Places  []int  `json:"places,omitempty"` // processors of each node
	Obeys   bool   `json:"obeys,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Rank    int    `json:"rank,omitempty"`
	Value   int    `json:"value,omitempty"`
}

// The steps. Common ones are repeated.
var kinds = []string{
	"launch", "launch", "launch", "end", "end", "signal", "share", "share",
	"cut", "cut", "cut", "slow", "daemon", "supervisor", "host", "server", "immortal",
}

func drawPlan() *rapid.Generator[plan] {
	return rapid.Custom(func(t *rapid.T) plan {
		nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
		p := plan{Seed: rapid.Uint64().Draw(t, "seed")}
		for range nodes {
			p.Drift = append(p.Drift, rapid.IntRange(0, 90).Draw(t, "drift"))
		}
		first := step{Do: "launch", After: 100}
		first.draw(t, nodes)
		p.Steps = append(p.Steps, first)
		for range rapid.IntRange(0, 24).Draw(t, "steps") {
			s := step{Do: rapid.SampledFrom(kinds).Draw(t, "do"), After: rapid.IntRange(0, 4000).Draw(t, "after")}
			s.draw(t, nodes)
			p.Steps = append(p.Steps, s)
		}
		return p
	})
}

func (s *step) draw(t *rapid.T, nodes int) {
	switch s.Do {
	case "launch":
		s.How = rapid.IntRange(0, 2).Draw(t, "how")
		s.Obeys = rapid.Bool().Draw(t, "obeys")
		for range nodes {
			s.Places = append(s.Places, rapid.IntRange(0, 2).Draw(t, "processors"))
		}
		return
	case "end", "signal", "share":
		s.Attempt = rapid.IntRange(0, 5).Draw(t, "attempt")
		s.Rank = rapid.IntRange(0, 3).Draw(t, "rank")
		s.Value = rapid.IntRange(0, 7).Draw(t, "value")
		return
	case "cut":
		s.Ways = rapid.IntRange(1, 3).Draw(t, "ways")
		s.Holds = rapid.Bool().Draw(t, "holds")
	}
	s.Node = rapid.IntRange(0, nodes-1).Draw(t, "node")
	s.For = rapid.IntRange(100, 15_000).Draw(t, "for")
}

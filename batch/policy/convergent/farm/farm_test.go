package farm

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func small() *State {
	return &State{
		Machines: []Machine{
			{Score: 200, CPUs: 2, Licenses: NewSet(0, 1)},
			{Score: 400, CPUs: 4, Licenses: NewSet(1)},
		},
		Licenses: []License{{Name: "cad", Copies: 2}, {Name: "solver", Copies: 3, Bound: true}, {Name: "none"}},
		Jobs: []Job{
			{Order: 3, Estimate: 100, Reference: 200, CPUs: 1, Machine: 0, Last: 1},
			{Order: 8, Estimate: 100, CPUs: 4, Licenses: []Need{{1, 2}}, Machine: NoMachine, Last: NoMachine},
		},
	}
}

func TestInvalidStatesNameTheField(t *testing.T) {
	if err := small().Validate(); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*State){
		"machines[1].score":          func(s *State) { s.Machines[1].Score = 0 },
		"machines[0].cpus":           func(s *State) { s.Machines[0].CPUs = 0 },
		"machines[0].licenses":       func(s *State) { s.Machines[0].Licenses = NewSet(3) },
		"licenses[0].copies":         func(s *State) { s.Licenses[0].Copies = -1 },
		"links.rate":                 func(s *State) { s.Links = &Links{} },
		"links.rates[1]":             func(s *State) { s.Links = &Links{1, [][]int64{nil, {1}}} },
		"links.rates[0][1]":          func(s *State) { s.Links = &Links{1, [][]int64{{1, 0}}} },
		"now":                        func(s *State) { s.Now = -1 },
		"jobs[1].order":              func(s *State) { s.Jobs[1].Order = 3 },
		"jobs[0].estimate":           func(s *State) { s.Jobs[0].Estimate = 0 },
		"jobs[0].reference":          func(s *State) { s.Jobs[0].Reference = -1 },
		"jobs[0].done":               func(s *State) { s.Jobs[0].Done = -1 },
		"jobs[0].cpus":               func(s *State) { s.Jobs[0].CPUs = -1 },
		"jobs[0].deadline":           func(s *State) { s.Jobs[0].Submit, s.Jobs[0].Deadline = 5, 5 },
		"jobs[0].machine":            func(s *State) { s.Jobs[0].Machine = 2 },
		"jobs[0].last":               func(s *State) { s.Jobs[0].Last = -2 },
		"jobs[1].held":               func(s *State) { s.Jobs[1].Held = true },
		"jobs[1].licenses[0]":        func(s *State) { s.Jobs[1].Licenses[0].License = 3 },
		"jobs[1].licenses[0].copies": func(s *State) { s.Jobs[1].Licenses[0].Copies = 0 },
		"jobs[1].licenses[1]":        func(s *State) { s.Jobs[1].Licenses = []Need{{1, 1}, {1, 1}} },
		"jobs[0].input[0].place":     func(s *State) { s.Jobs[0].Input = []Input{{-1, 0}} },
		"jobs[0].input[0].bytes":     func(s *State) { s.Jobs[0].Input = []Input{{9, -1}} },
	} {
		s := small()
		spoil(s)
		err := s.Validate()
		var wrong *FieldError
		if !errors.As(err, &wrong) || wrong.Field != field || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestCheckNamesTheNeedThatNoMachineServes(t *testing.T) {
	for name, tc := range map[string]struct {
		job  Job
		need string // "" if it can run
	}{
		"CPUs available":            {Job{CPUs: 4}, ""},
		"too many CPUs":             {Job{CPUs: 5}, "cpus"},
		"license without copies":    {Job{Licenses: []Need{{2, 1}}}, "license none"},
		"too many copies":           {Job{Licenses: []Need{{0, 3}}}, "license cad"},
		"all copies":                {Job{Licenses: []Need{{0, 2}}}, ""},
		"copies of a bound license": {Job{Licenses: []Need{{1, 3}}}, ""},
		"unknown license":           {Job{Licenses: []Need{{7, 1}}}, "a license of the farm"},
		"CPUs and license on different machines": {
			Job{CPUs: 3, Licenses: []Need{{0, 1}}}, "a machine with all of its CPUs, memory and licenses",
		},
		"CPUs and license on one machine": {Job{CPUs: 3, Licenses: []Need{{1, 1}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := small()
			s.Machines[1].Down = true // it can come back
			err := s.Check(&tc.job)
			var need *NeedError
			switch {
			case tc.need == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.need != "" && (!errors.As(err, &need) || need.Need != tc.need):
				t.Errorf("%v, want an error about %s", err, tc.need)
			}
		})
	}
}

func TestOfferCountsBoundLicensesOfMachinesThatAreUp(t *testing.T) {
	s := small()
	if a, b := s.Offer(0), s.Offer(1); a != 2 || b != 6 {
		t.Errorf("offers %d and %d, want 2 and 2 times 3", a, b)
	}
	s.Machines[0].Down = true
	if a, b := s.Offer(0), s.Offer(1); a != 2 || b != 3 {
		t.Errorf("with a machine down: offers %d and %d, want 2 and 3", a, b)
	}
}

func TestRuntimeIsWorkDividedByScoreRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.IntRange(0, 62)
		j := Job{
			Estimate:  batch.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "estimate") >> shift.Draw(t, "by")),
			Done:      batch.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "done") >> shift.Draw(t, "by")),
			Reference: rapid.Int32Range(0, math.MaxInt32).Draw(t, "reference"),
		}
		score := rapid.Int32Range(1, math.MaxInt32).Draw(t, "score")
		want := big.NewInt(int64(max(1, j.Estimate-j.Done)))
		if j.Reference > 0 {
			by := big.NewInt(int64(score))
			want.Mul(want, big.NewInt(int64(j.Reference)))
			want.Add(want, by).Sub(want, big.NewInt(1)).Div(want, by)
		}
		if got := j.On(score); !want.IsInt64() && got != batch.Forever || want.IsInt64() && int64(got) != want.Int64() {
			t.Errorf("On(%d) of %+v = %d, want %v", score, j, got, want)
		}
	})
}

func TestSetContainsItsMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := map[int32]bool{}
		var s Set
		for _, l := range rapid.SliceOf(rapid.Int32Range(0, 200)).Draw(t, "licenses") {
			in[l] = true
			s = s.With(l)
		}
		for l := int32(-1); l < 300; l++ {
			if s.Has(l) != in[l] {
				t.Errorf("Has(%d) = %t", l, s.Has(l))
			}
		}
	})
}

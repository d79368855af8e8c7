package farm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// begin starts a pass in which all jobs are eligible for all machines.
func begin(m *Matrix, s *State) {
	m.Begin(s)
	for i := range s.Jobs {
		if r := m.Row(i); r.Stale {
			var all []int32
			for k := range s.Machines {
				all = append(all, int32(k))
			}
			r.Choose(s, all)
		}
	}
}

func TestRowsFollowTheirJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := small()
		s.Jobs = nil
		var m Matrix
		order, held := int64(0), map[int64]*Row{}
		for range rapid.IntRange(1, 20).Draw(t, "passes") {
			if n := len(s.Jobs); n > 0 && rapid.Bool().Draw(t, "end") {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				delete(held, s.Jobs[i].Order)
				s.Jobs = slices.Delete(s.Jobs, i, i+1)
			}
			for range rapid.IntRange(0, 2).Draw(t, "submissions") {
				order++
				s.Jobs = append(s.Jobs, Job{Order: order})
			}
			m.Begin(s)
			if m.Len() != len(s.Jobs) {
				t.Fatalf("%d rows for %d jobs", m.Len(), len(s.Jobs))
			}
			seen := map[*Row]bool{}
			for i := range s.Jobs {
				r, had := m.Row(i), held[s.Jobs[i].Order]
				if seen[r] || had != nil && had != r {
					t.Fatalf("job %d has another row", s.Jobs[i].Order)
				}
				if r.Stale != (had == nil) {
					t.Fatalf("job %d: stale %t", s.Jobs[i].Order, r.Stale)
				}
				seen[r], held[s.Jobs[i].Order] = true, r
			}
			begin(&m, s)
		}
	})
}

func TestRowsAreStaleAfterAChangeOfTheJobOrTheFarm(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*State)
		want   []bool
	}{
		"nothing": {func(*State) {}, []bool{false, false}},
		"clock and progress": {
			func(s *State) { s.Now++; s.Jobs[0].Done++; s.Jobs[0].Last = 0 }, []bool{false, false},
		},
		"CPUs":                    {func(s *State) { s.Jobs[0].CPUs++ }, []bool{true, false}},
		"reference":               {func(s *State) { s.Jobs[0].Reference++ }, []bool{true, false}},
		"hold":                    {func(s *State) { s.Jobs[0].Held = true }, []bool{true, false}},
		"licenses of the job":     {func(s *State) { s.Jobs[1].Licenses[0].Copies++ }, []bool{false, true}},
		"input":                   {func(s *State) { s.Jobs[1].Input = []Input{{1, 1}} }, []bool{false, true}},
		"score":                   {func(s *State) { s.Machines[1].Score++ }, []bool{true, true}},
		"machine down":            {func(s *State) { s.Machines[1].Down = true }, []bool{true, true}},
		"licenses of the machine": {func(s *State) { s.Machines[1].Licenses.With(0) }, []bool{true, true}},
		"fewer machines":          {func(s *State) { s.Machines = s.Machines[:1] }, []bool{true, true}},
		"copies":                  {func(s *State) { s.Licenses[0].Copies++ }, []bool{true, true}},
		"links":                   {func(s *State) { s.Links = &Links{Rate: 1} }, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := small()
			var m Matrix
			begin(&m, s)
			tc.change(s)
			m.Begin(s)
			if got := []bool{m.Row(0).Stale, m.Row(1).Stale}; !slices.Equal(got, tc.want) {
				t.Errorf("stale: %v, want %v", got, tc.want)
			}
			for i := range s.Jobs {
				if n := len(m.Row(i).Cells); n != len(s.Machines) {
					t.Errorf("row %d has %d cells for %d machines", i, n, len(s.Machines))
				}
			}
		})
	}
}

func TestEntriesAreTheSumOfBaseAndCell(t *testing.T) {
	s := small()
	s.Machines = append(s.Machines, Machine{Score: 300, CPUs: 1})
	var m Matrix
	m.Begin(s)
	r := m.Row(1)
	r.Choose(s, []int32{0, 2})
	r.Base, r.Cells[2] = 10, 6
	check := func(want []Points) {
		t.Helper()
		for machine, points := range want {
			if got := m.At(1, machine); got != points {
				t.Errorf("machine %d: %d, want %d", machine, got, points)
			}
		}
	}
	check([]Points{11, 0, 16})
	if r.Mean() != 13 || r.Slowest != 200 || r.Fastest != 300 {
		t.Errorf("mean %d, scores %d to %d; want 13, 200 to 300", r.Mean(), r.Slowest, r.Fastest)
	}
	m.Clear(1)
	check([]Points{0, 0, 0})
	if r.Mean() != 13 {
		t.Errorf("mean of a cleared row: %d, want 13", r.Mean())
	}
	m.Begin(s)
	check([]Points{11, 0, 16})
	r.Choose(s, []int32{1})
	check([]Points{0, 1, 0})
	r.Choose(s, nil)
	check([]Points{0, 0, 0})
	if r.Mean() != 0 || r.Slowest != 0 {
		t.Errorf("mean %d and score %d of a job without eligible machines", r.Mean(), r.Slowest)
	}
}

func TestMeansOfLargeEntriesAreExact(t *testing.T) {
	s := &State{Jobs: []Job{{Order: 1}}}
	var all []int32
	for i := range int32(70) {
		s.Machines, all = append(s.Machines, Machine{Score: 1}), append(all, i)
	}
	var m Matrix
	m.Begin(s)
	m.Row(0).Choose(s, all)
	for _, c := range all {
		m.Row(0).Cells[c] = 1<<60 + Points(c&1)
	}
	if got := m.Row(0).Mean(); got != 1<<60 {
		t.Errorf("mean %d, want 2^60", got)
	}
}

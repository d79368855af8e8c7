package reallocation

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// known is an answer as it would be kept if there was room.
type known struct {
	value   uint64
	version int // 0: unknown
	bound   bool
}

// TestRenumberKeepsTheAnswers against versions without end: changes
// by the thousand, between them answers, a row that bounds another, and one that goes
// and leaves its room to the next.
func TestRenumberKeepsTheAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const jobs = 3
		a := newAnswers(1, make([]Job, jobs))
		version, floor := 1, 1
		rows, standing := make([]*known, jobs), make([]known, jobs)
		job := rapid.IntRange(0, jobs-1)
		t.Repeat(map[string]func(*rapid.T){
			"answer": func(t *rapid.T) {
				j, v := job.Draw(t, "job"), code(batch.Duration(rapid.Int64().Draw(t, "ect")))
				if rapid.Bool().Draw(t, "standing") {
					a.standing[j], standing[j] = a.made(v, 0), known{value: v, version: version}
				} else {
					a.row(j, -1)[0] = a.made(v, 0)
					rows[j] = &known{value: v, version: version}
				}
			},
			"bound": func(t *rapid.T) {
				j, lesser := job.Draw(t, "job"), job.Draw(t, "lesser")
				if rows[j] != nil || rows[lesser] == nil {
					return
				}
				a.row(j, lesser)
				rows[j] = &known{value: rows[lesser].value, version: rows[lesser].version, bound: true}
				if rows[lesser].version >= floor {
					rows[j].version = floor
				}
			},
			"drop": func(t *rapid.T) {
				j := job.Draw(t, "job")
				a.drop(j)
				rows[j] = nil
			},
			"fuller": func(t *rapid.T) {
				last := versionMask - 1 - int(a.version[0]) // until versions restart
				for range rapid.SampledFrom([]int{1, 2, 5000, max(last-1, 0), max(last, 0)}).Draw(t, "times") {
					a.fuller(0)
					version++
				}
			},
			"emptier": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 2, 900, 2045, 3000}).Draw(t, "times") {
					a.emptier(0)
					version++
					floor = version
				}
			},
			"keep": func(t *rapid.T) {
				j := job.Draw(t, "job")
				a.keep(&a.standing[j], 0)
				if k := &standing[j]; k.version == version-1 && k.version >= floor {
					k.version = version
				}
			},
			"": func(t *rapid.T) {
				check := func(w answer, k *known) {
					if k == nil || k.version < floor {
						k = &known{}
					}
					if got := a.bound(w, 0); got != k.value {
						t.Fatalf("bound %d, want %d", got, k.value)
					}
					if got, want := a.exact(w, 0), k.version == version && !k.bound; got != want {
						t.Fatalf("exact %v, want %v: %+v at version %d", got, want, k, version)
					}
				}
				for j := range jobs {
					check(a.standing[j], &standing[j])
					if row := a.rows[j]; row != nil {
						check(row[0], rows[j])
					} else if rows[j] != nil {
						t.Fatalf("job %d has lost its row", j)
					}
				}
			},
		})
	})
}

func TestCodeRoundTripsUpTo142Years(t *testing.T) {
	for d, want := range map[batch.Duration]batch.Duration{
		-1: 0, 0: 0, 1: 1, never - 3: never - 3, never - 1: batch.Forever, batch.Forever: batch.Forever,
	} {
		if got := duration(code(d)); got != want {
			t.Errorf("%d: %d, want %d", d, got, want)
		}
	}
	if duration(0) >= 0 {
		t.Error("the unknown is not below all")
	}
}

package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// drawn are n jobs of width 2, every tenth of width 1, at a site of 4 processors.
func drawn(t *testing.T, n int, seed uint64, types []moldableType, local Fraction) []Job {
	t.Helper()
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = Job{ID: int64(i), Width: 2, Walltime: batch.Hour}
		if i%10 == 0 {
			jobs[i].Width = 1
		}
	}
	draw(jobs, seed, types, local, []GridSite{{Procs: 4}})
	return jobs
}

func TestSharesOfTypesAreExactProbabilities(t *testing.T) {
	types := paperTypes(t)
	upTo := []uint64{10, 16, 19, 20} // of 20: 50, 30, 15 and 5%
	for k := range types {
		if types[k].upTo != upTo[k] {
			t.Errorf("type %d is taken below %d, want %d", k+1, types[k].upTo, upTo[k])
		}
	}
	thirds, errs := (&Moldable{Types: []MoldableType{{"0.5", 2, "1/3"}, {"0.25", 4, "1/6"}, {"0", 8, "0.5"}}}).parse()
	if len(errs) > 0 || thirds[0].upTo != 2 || thirds[1].upTo != 3 || thirds[2].upTo != 6 ||
		thirds[1].parallel != 250_000 {
		t.Errorf("%+v %v", thirds, errs)
	}
}

// Chi squared with 3 degrees of freedom is below 16.3 with probability 0.999; the
// seeds are fixed, so that what passes once passes always.
func TestTypesOccurByTheirShares(t *testing.T) {
	types := paperTypes(t)
	for seed := range uint64(5) {
		const n = 100_000
		var count [5]float64
		for _, j := range drawn(t, n, seed, types, Fraction{}) {
			if (j.Width == 1) != (j.Type == 0) || j.Local {
				t.Fatalf("%+v", j)
			}
			count[j.Type]++
		}
		chi := 0.
		for k, share := range []float64{0.5, 0.3, 0.15, 0.05} {
			want := share * 0.9 * n
			chi += (count[k+1] - want) * (count[k+1] - want) / want
		}
		if chi > 16.3 {
			t.Errorf("seed %d: chi squared %g of %v", seed, chi, count)
		}
	}
}

func TestTwoThirdsOfTheJobsAreLocalWithoutChangingTypes(t *testing.T) {
	types := paperTypes(t)
	const n = 90_000
	dedicated, shared := drawn(t, n, 7, types, Fraction{}), drawn(t, n, 7, types, PaperLocal)
	rigid, others := drawn(t, n, 7, nil, PaperLocal), drawn(t, n, 8, types, PaperLocal)
	locals, same := 0, 0
	var ofType, localOfType [5]float64
	for i := range shared {
		if shared[i].Local {
			locals++
			localOfType[shared[i].Type]++
		}
		ofType[shared[i].Type]++
		if dedicated[i].Type != shared[i].Type || rigid[i].Local != shared[i].Local || rigid[i].Type != 0 {
			t.Fatalf("job %d: %+v, dedicated %+v, rigid %+v", i, shared[i], dedicated[i], rigid[i])
		}
		if others[i].Local == shared[i].Local {
			same++
		}
	}
	if off := math.Abs(float64(locals) - 2./3*n); off > 4*math.Sqrt(n*2./9) {
		t.Errorf("%d of %d jobs are local", locals, n)
	}
	for k, n := range ofType {
		if off := math.Abs(localOfType[k] - 2./3*n); off > 4*math.Sqrt(n*2./9) {
			t.Errorf("%g of %g jobs of type %d are local", localOfType[k], n, k)
		}
	}
	if off := math.Abs(float64(same) - 5./9*n); off > 4*math.Sqrt(n*20./81) {
		t.Errorf("under another seed %d of %d jobs are what they were", same, n)
	}
}

func TestAJobThatIsTooWideForItsSiteIsTheGrids(t *testing.T) {
	jobs := []Job{{Width: 5}, {Width: 4}, {Width: 5, Home: 1}}
	draw(jobs, 1, nil, Fraction{1, 1}, []GridSite{{Procs: 4}, {Procs: 5}})
	if jobs[0].Local || !jobs[1].Local || !jobs[2].Local {
		t.Errorf("%+v", jobs)
	}
}

// What is drawn is the same for ever: it is in people's results.
func TestDrawsArePinned(t *testing.T) {
	var types []uint8
	var local []bool
	for _, j := range drawn(t, 21, 1, paperTypes(t), PaperLocal)[1:10] {
		types, local = append(types, j.Type), append(local, j.Local)
	}
	if want := []uint8{2, 1, 3, 3, 1, 3, 1, 2, 2}; !slices.Equal(types, want) {
		t.Errorf("types %v, want %v", types, want)
	}
	if want := []bool{false, true, true, true, true, true, true, false, true}; !slices.Equal(local, want) {
		t.Errorf("local %v, want %v", local, want)
	}
}

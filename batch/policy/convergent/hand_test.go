package convergent_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

var algorithms = []string{"CS_ip", "CS_inp", "CS_nip", "CS_ninp", "BF-easy", "BF-rm", "BF-unrm", "EDF"}

// Two machines, one twice as fast. In all versions the wait heuristic gives the fast one to the
// longer job, which gains more from it: 4 · (1 - 10/20) and 4 · (1 - 20/20) for job 2, 3.5 and
// 3 for job 1. Backfilling and EDF give it to the first job in their order.
func TestConvergentGivesTheLongerJobTheFasterMachine(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a, func(t *testing.T) {
			p := machines(100, 200)
			got := play(t, policy(t, p, batch.Settings{"algorithm": a}), p,
				[]arrival{{0, job(1, 5, 0)}, {0, job(2, 20, 0)}})
			switch a {
			case "BF-easy", "EDF", "BF-rm", "BF-unrm":
				wantLines(t, got.lines[:2], "0 start #1 m1", "0 start #2 m0")
			default:
				wantLines(t, got.lines[:2], "0 start #1 m0", "0 start #2 m1")
			}
		})
	}
}

// One machine. Job 1 takes 100 s; job 2 comes at 10, takes 20 s and must end by 35. The entry
// of job 2 at 10: Extime 30, t = 35 - 1.3·20 = 9, so f1 = 0.1 + 9.9·21/26 = 8.096, all of it on
// the one machine. Job 1 has 0.1 + 8 for its machine and 0.2 for 10 s of age; wait minimization
// gives 0 to job 1 (90 of 90 s) and 4·70/90 = 3.11 to job 2. Input gives 3 to both. Versions
// with preemption therefore preempt job 1, which continues at 30.
func TestAnUrgentJobPreempts(t *testing.T) {
	p := machines(100)
	jobs := func() []arrival { return []arrival{{0, job(1, 100, 0)}, {10, job(2, 20, 35)}} }
	for _, a := range algorithms {
		t.Run(a, func(t *testing.T) {
			got := play(t, policy(t, p, batch.Settings{"algorithm": a}), p, jobs())
			if a == "CS_ip" || a == "CS_nip" || a == "EDF" {
				wantLines(t, got.lines, "0 start #1 m0", "10 pause #1", "10 start #2 m0", "30 end #2",
					"30 resume #1 m0", "120 end #1")
			} else {
				wantLines(t, got.lines, "0 start #1 m0", "100 end #1", "100 start #2 m0", "120 end #2")
			}
		})
	}
}

// As above, but with two machines and one copy of a license. A paused job returns its copy; the
// freed machine alone is not enough for job 1.
func TestTheLicenseOfAPausedJobIsFree(t *testing.T) {
	p := machines(100, 100)
	p.Licenses = []batch.LicensePool{{Name: "cad", Copies: 1}}
	for _, a := range []string{"CS_ip", "CS_nip", "EDF"} {
		t.Run(a, func(t *testing.T) {
			got := play(t, policy(t, p, batch.Settings{"algorithm": a, "overhead": "0"}), p,
				[]arrival{{0, job(1, 100, 0, "cad")}, {10, job(2, 20, 31, "cad")}})
			wantLines(t, []string{got.lines[0], got.lines[1], got.lines[3]}, "0 start #1 m0", "10 pause #1",
				"30 end #2")
			if last := got.lines[len(got.lines)-1]; last != "120 end #1" {
				t.Errorf("last: %s\n%v", last, got.lines)
			}
		})
	}
}

// Job 1 is resident: paused on the slow machine, it waits for that machine although the fast
// one becomes free first.
func TestAResidentJobResumesOnItsMachine(t *testing.T) {
	for _, c := range []struct {
		resident bool
		resume   string
	}{{false, "12 resume #1 m0"}, {true, "20 resume #1 m1"}} {
		p := machines(400, 100)
		one := job(1, 100, 0)
		one.Resident = c.resident
		block, urgent := job(2, 48, 13), job(3, 10, 21)
		urgent.Licenses = []batch.License{{Name: "slow", Copies: 1}} // only the slow machine can run it
		p.Nodes[1].Licenses = []string{"slow"}
		got := play(t, policy(t, p, batch.Settings{"algorithm": "EDF"}), p,
			[]arrival{{0, block}, {0, one}, {10, urgent}})
		wantLines(t, got.lines[:4], "0 start #2 m0", "0 start #1 m1", "10 pause #1", "10 start #3 m1")
		found := false
		for _, l := range got.lines {
			found = found || l == c.resume
		}
		if !found {
			t.Errorf("resident %t: no %q in %v", c.resident, c.resume, got.lines)
		}
	}
}

// Machine 1 cannot run cad. Job 2 needs it and waits for machine 0 until 100. Job 3 would take
// 50 s there, but has machine 1; job 4 runs on machine 1 and cannot delay job 2, whenever it
// ends; job 5 needs machine 0 and would delay job 2.
func TestBackfillingKeepsTheReservation(t *testing.T) {
	for _, a := range []string{"BF-easy", "BF-rm", "BF-unrm"} {
		t.Run(a, func(t *testing.T) {
			p := machines(100, 50)
			p.Nodes[0].Licenses = []string{"cad"}
			got := play(t, policy(t, p, batch.Settings{"algorithm": a, "wait": "0"}), p, []arrival{
				{0, job(1, 100, 0)},
				{1, job(2, 50, 0, "cad")},
				{2, job(3, 10, 0)},
				{3, job(4, 100, 0)},
				{4, job(5, 10, 0, "cad")},
			})
			wantLines(t, got.lines, "0 start #1 m0", "2 start #3 m1", "22 end #3", "22 start #4 m1",
				"100 end #1", "100 start #2 m0", "150 end #2", "150 start #5 m0", "160 end #5", "222 end #4")
		})
	}
}

// EASY with one copy of cad, which job 1 holds on machine 0 until 100; job 1 is too wide for
// machine 1, the faster one. Job 2 needs the copy and waits although machine 1 is free: it has
// a reservation of machine 1 at 100. Job 3 takes 45 s there from 5 on and ends by 100. Job 4,
// at 96, would not end by then; it runs on machine 0 from 100 on.
func TestAReservationWaitsForLicenses(t *testing.T) {
	p := machines(100, 200)
	p.Nodes[1].Processors = 4
	p.Licenses = []batch.LicensePool{{Name: "cad", Copies: 1}}
	wide := job(1, 100, 0, "cad")
	wide.Shape.Width = 8
	got := play(t, policy(t, p, batch.Settings{"algorithm": "BF-easy"}), p, []arrival{
		{0, wide}, {1, job(2, 10, 0, "cad")}, {5, job(3, 90, 0)}, {96, job(4, 200, 0)},
	})
	wantLines(t, got.lines, "0 start #1 m0", "5 start #3 m1", "50 end #3", "100 end #1", "100 start #2 m1",
		"100 start #4 m0", "105 end #2", "300 end #4")
}

// Job priorities change while job 2 waits with a reservation: job 3 comes with a close
// deadline. BF-rm gives the reservation to job 3, BF-unrm does not.
func TestOnlyBFrmGivesAReservationToAnUrgentJob(t *testing.T) {
	for a, want := range map[string]string{
		"BF-rm": "100 start #3 m0", "BF-unrm": "100 start #2 m0", "BF-easy": "100 start #2 m0",
	} {
		p := machines(100)
		got := play(t, policy(t, p, batch.Settings{"algorithm": a}), p, []arrival{
			{0, job(1, 100, 0)}, {1, job(2, 50, 0)}, {60, job(3, 50, 151)},
		})
		if got.lines[2] != want {
			t.Errorf("%s: %v, want %q", a, got.lines, want)
		}
	}
}

// One machine, and jobs by 200, 100, no deadline, 300; the job by 100 comes while the first one
// runs.
func TestOrdersOfEDF(t *testing.T) {
	for order, want := range map[string][]string{
		"earliest": {
			"0 start #1 m0", "10 pause #1", "10 start #2 m0", "30 end #2", "30 resume #1 m0", "60 end #1",
			"60 start #4 m0", "70 end #4", "70 start #3 m0", "80 end #3",
		},
		"queued": {
			"0 start #1 m0", "10 pause #1", "10 start #2 m0", "30 end #2", "30 start #3 m0", "40 end #3",
			"40 start #4 m0", "50 end #4", "50 resume #1 m0", "80 end #1",
		},
		"latest": {
			"0 start #1 m0", "20 pause #1", "20 start #3 m0", "30 end #3", "30 start #4 m0", "40 end #4",
			"40 resume #1 m0", "60 end #1", "60 start #2 m0", "80 end #2",
		},
	} {
		t.Run(order, func(t *testing.T) {
			p := machines(100)
			got := play(t, policy(t, p, batch.Settings{"algorithm": "EDF", "order": order}), p,
				[]arrival{{0, job(1, 40, 200)}, {10, job(2, 20, 100)}, {20, job(3, 10, 0)}, {20, job(4, 10, 300)}})
			wantLines(t, got.lines, want...)
		})
	}
}

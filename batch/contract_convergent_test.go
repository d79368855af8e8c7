package batch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent"
)

// The real policy for unlike machines and licenses on the toy's office, under the ledger. By
// hand, in submission order: job 1 gets the better cad machine, job 2 the fast machine and
// the copy of sim. Job 3 waits for that copy until 5 and also gets the fast machine. Job 4
// gets the slow cad machine; it ends after 5 but delays no job. Job 5 finds two free
// machines at 10.
func TestConvergentKeepsTheContractForUnlikeMachines(t *testing.T) {
	for _, algorithm := range []string{"CS_ip", "CS_inp", "CS_nip", "CS_ninp", "BF-easy", "BF-rm", "BF-unrm", "EDF"} {
		t.Run(algorithm, func(t *testing.T) {
			p, err := convergent.New(office(), batch.Settings{"algorithm": algorithm})
			if err != nil {
				t.Fatal(err)
			}
			d := &diary{begun: map[batch.Handle]string{}}
			e := engine.New(p, d, engine.NewLedger(office()))
			e.Machine(office())
			for h := batch.Handle(1); h <= 5; h++ {
				j := licensed(h, 100, map[batch.Handle][]string{1: {"cad"}, 2: {"sim"}, 3: {"sim"}, 4: {"cad"}}[h]...)
				e.Submit(&j, 10*batch.Second)
			}
			e.Pass()
			for at := e.Next(); at != batch.Never; at = e.Next() {
				e.Advance(at)
				e.Pass()
			}
			if len(d.lines) != 5 {
				t.Fatalf("ended: %v", d.lines)
			}
			if algorithm == "BF-easy" || algorithm == "EDF" {
				if diff := cmp.Diff([]string{"#2 n1 0-5", "#1 n0 0-10", "#3 n1 5-10", "#5 n1 10-15", "#4 n2 0-20"},
					d.lines); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A machine fails while it runs a job. The driver reports the lost work; the job restarts on
// the other machine and keeps its license all the time.
func TestConvergentRestartsTheJobOfAFailedMachine(t *testing.T) {
	platform := batch.Platform{
		Nodes:    []batch.Node{{Processors: 1, Score: 200}, {Processors: 1, Score: 100}},
		Licenses: []batch.LicensePool{{Name: "sim", Copies: 1}},
	}
	p, err := convergent.New(platform, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, two := licensed(1, 100, "sim"), licensed(2, 100, "sim")
	decide := func(now int, want string) {
		t.Helper()
		var out batch.Decisions
		p.Decide(secs(now), &out)
		got := ""
		for _, d := range out.List {
			got += d.Kind.String()
			for _, l := range d.Allocation {
				got += " on " + string('0'+l.Node)
			}
			got += " #" + string(rune('0'+d.Job)) + "; "
		}
		if got != want {
			t.Errorf("at %d: %q, want %q", now, got, want)
		}
	}
	p.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: &one})
	decide(0, "start on 0 #1; ")
	p.Apply(secs(5), &batch.Event{Kind: batch.NodeDown, Node: 0})
	p.Apply(secs(5), &batch.Event{Kind: batch.Submit, Job: 2, Spec: &two})
	decide(5, "") // job 1 still holds the license
	p.Apply(secs(6), &batch.Event{Kind: batch.Finish, Job: 1})
	decide(6, "start on 1 #2; ")
	p.Apply(secs(7), &batch.Event{Kind: batch.NodeDown, Node: 1})
	p.Apply(secs(7), &batch.Event{Kind: batch.Stopped, Job: 2})
	decide(7, "")
	p.Apply(secs(8), &batch.Event{Kind: batch.NodeUp, Node: 0})
	decide(8, "start on 0 #2; ")
}

package site

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func TestRecordsAreRestoredUnchanged(t *testing.T) {
	for state := Waiting; state <= Incoming; state++ {
		t.Run(state.String(), func(t *testing.T) {
			s, _ := in(t, state)
			before := record(s.book.byID["a"])
			list := saved(t, s)
			if diff := cmp.Diff([]Record{before}, list); diff != "" {
				t.Error(diff)
			}
			again := named(t, "s")
			if err := again.Restore(list); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(list, saved(t, again)); diff != "" {
				t.Error(diff)
			}
			a, b := s.Load(), again.Load()
			a.Ended = 0 // counts only the jobs that ended since the start
			if a != b {
				t.Errorf("load %+v, then %+v", a, b)
			}
		})
	}
}

func TestACompleteRecordIsRestored(t *testing.T) {
	gain := -seconds(3)
	r := Record{
		ID: "a", State: "running", Epoch: 7, Under: 5, Attempt: 2, Cancel: true, Withdrawn: true, Kept: true,
		Busy:    true,
		Service: "lu", Owner: "ada", Shape: batch.Shape{Width: 3, Walltime: seconds(9)},
		Needs: &Needs{
			Origin: batch.Local, Memory: 1, CPU: 2, Licenses: []batch.License{{Name: "x", Copies: 2}}, EarliestStart: 3,
			Deadline:  4,
			InputSite: "t", Input: 5, Restartable: true,
		},
		Order: 8, Submitted: 9, Started: 10, Ended: 11,
		Estimate: Quote{
			Shape: batch.Shape{Width: 3, Walltime: 1}, Wait: 2, Run: 3, Completion: 5, Kind: batch.Probable, P: 0.9,
		},
		Run: &Run{
			Nodes: []string{"n"}, Places: []batch.NodeAllocation{{Node: 1, Processors: 2}},
			Outcome: batch.Outcome{End: batch.EndFailed, ExitCode: 3, Signal: "KILL", Reason: "why"},
			Outputs: []Output{{Argument: "o", Size: 4, SHA256: "ab"}},
		},
		Measured: &Measured{CPU: 3, Memory: 4},
		Transit: &Transit{
			Peer: "t", Round: "r", Lease: 1, MinGain: AnyGain, Since: 2, Stay: 3, Expected: 4, Idle: true, Gone: 3,
			GoneTo: "u", Acked: true,
			Assigned: []Verdict{{First: 2, Epoch: 3, Committed: true}, {First: 6, Epoch: 6}},
			Moves: []Move{{
				From: "s", To: "t", Epoch: 6, State: MoveAborted, Ordered: 1, Settled: 2, Reason: "r", Agent: "g",
				Why: "w", MinGain: 3,
				Predicted: &gain, Realized: &gain,
			}},
		},
		Revision: 12, Fingerprint: fingerprint{1, 2, 3},
	}
	text, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	var read Record
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	same(t, "from text", read, r)
	j, err := read.job()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "from the core", record(j), r)
}

func TestDossiersAreRestoredUnchanged(t *testing.T) {
	d := Dossier{Decision: []byte{0, 255}, Request: Request{
		Service: "lu", Width: 2, Walltime: 3, Menu: menu(1, 2), Owner: "ada", Origin: batch.Local, Deadline: 4,
		EarliestStart: 5, Memory: 6, CPU: 7,
		Arguments: map[string]catalogue.Value{
			"n": catalogue.Int(1), "f": catalogue.FileIn(catalogue.File{Name: "x", Size: 3, SHA256: "ab"}),
		},
		Licenses: []batch.License{{Name: "x", Copies: 1}}, Input: 8, InputSite: "t", Idempotent: true, RetryOf: "b",
		Labels: map[string]string{"k": "v"},
	}}
	text, err := json.Marshal(&d)
	if err != nil {
		t.Fatal(err)
	}
	var read Dossier
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, read, cmp.AllowUnexported(catalogue.Value{})); diff != "" {
		t.Error(diff)
	}
	if read.Request.fingerprint() != d.Request.fingerprint() {
		t.Error("another fingerprint")
	}
}

func TestInconsistentRecordsAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		from   State
		change func(*Record)
	}{
		"no id":                     {Waiting, func(r *Record) { r.ID = "" }},
		"no state":                  {Waiting, func(r *Record) { r.State = "" }},
		"an unknown state":          {Waiting, func(r *Record) { r.State = "asleep" }},
		"no needs":                  {Waiting, func(r *Record) { r.Needs = nil }},
		"no attempt":                {Waiting, func(r *Record) { r.Attempt = 0 }},
		"no shape":                  {Waiting, func(r *Record) { r.Shape = batch.Shape{} }},
		"waiting, not kept":         {Waiting, func(r *Record) { r.Kept = false }},
		"absent, kept":              {Waiting, func(r *Record) { r.State = "absent" }},
		"waiting and busy":          {Waiting, func(r *Record) { r.Busy = true }},
		"running, not busy":         {Running, func(r *Record) { r.Busy = false }},
		"under a later epoch":       {Waiting, func(r *Record) { r.Under = 1 }},
		"held by no round":          {Held, func(r *Record) { r.Transit = nil }},
		"moving, without a transit": {Moving, func(r *Record) { r.Transit = nil }},
		"moving to nowhere":         {Moving, func(r *Record) { r.Transit.Peer = "" }},
		"moving under no epoch":     {Moving, func(r *Record) { r.Transit.Assigned = nil }},
		"yielding under another":    {Yielding, func(r *Record) { r.Epoch++ }},
		"gone, without a transit":   {Gone, func(r *Record) { r.Transit = nil }},
		"gone, without its record":  {Gone, func(r *Record) { r.Kept = false }},
		"gone under no epoch":       {Gone, func(r *Record) { r.Transit.Gone = 0 }},
		"incoming from nowhere":     {Incoming, func(r *Record) { r.Transit.Peer = "" }},
		"epochs out of order": {Waiting, func(r *Record) {
			r.Transit = &Transit{Assigned: []Verdict{{First: 2, Epoch: 3}, {First: 3, Epoch: 4}}}
		}},
		"epochs reversed": {Waiting, func(r *Record) {
			r.Transit = &Transit{Assigned: []Verdict{{First: 2, Epoch: 1}}}
		}},
		"epoch 0": {Waiting, func(r *Record) { r.Transit = &Transit{Assigned: []Verdict{{Epoch: 1}}} }},
	} {
		s, _ := in(t, tt.from)
		list := saved(t, s)
		tt.change(&list[0])
		if err := named(t, "s").Restore(list); err == nil || !strings.Contains(err.Error(), "record of job") {
			t.Errorf("%s: %v", name, err)
		}
		if err := named(t, "s").Recall(&list[0]); err == nil {
			t.Errorf("%s is recalled", name)
		}
	}
	s, _ := in(t, Waiting)
	if err := named(t, "s").Restore(append(saved(t, s), saved(t, s)...)); err == nil {
		t.Error("two records of one job are accepted")
	}
}

// FuzzRecord: an invalid record is refused without effects. A valid record can be used, and is
// saved unchanged.
func FuzzRecord(f *testing.F) {
	for state := Waiting; state <= Incoming; state++ {
		s, _ := in(f, state)
		text, _ := json.Marshal(saved(f, s)[0])
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Record
		if json.Unmarshal(text, &r) != nil {
			return
		}
		s := named(t, "s")
		if s.Restore([]Record{r}) != nil {
			return
		}
		once := saved(t, s)
		again := named(t, "s")
		if err := again.Restore(once); err != nil {
			t.Fatal(err)
		}
		same(t, "again", saved(t, again), once)
		for _, f := range []RecoveredAttempt{{Won: true}, runs(1), ends(batch.EndDone), ends(batch.EndNeverRan)} {
			s := named(t, "s")
			_ = s.Restore(once)
			if err := s.Recover(1, []RecoveredAttempt{f}[:len(s.Unsettled())]); err != nil {
				t.Fatal(err)
			}
			s.Tick(min(s.Wake(), hour))
			_, _ = s.Cancel(2, r.ID)
			take(s, 3)
		}
	})
}

package sla

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim"
)

// town is a made-up workload of four users, of whom three overestimate.
func town(jobs int) *sim.Workload {
	r := rand.New(rand.NewPCG(1, 2))
	w := &sim.Workload{}
	at := batch.Time(0)
	for i := range jobs {
		at += batch.Time(r.Int64N(1500)) * batch.Time(batch.Second)
		estimate := batch.Duration(600+r.Int64N(20_000)) * batch.Second
		user := 1 + r.Int32N(4)
		runtime := estimate
		if user < 4 {
			runtime = batch.Duration(r.Int64N(int64(estimate/batch.Second)+400)) * batch.Second
		}
		w.Jobs = append(w.Jobs, sim.Job{ID: int64(i + 1), Submit: at, Runtime: runtime, Walltime: estimate, Width: 1 +
			r.Int32N(5), User: user, App: -1})
	}
	return w
}

var demand = Demand{Fixed: 100, Later: 500, Slack: 500, Seed: 7}

func sell(t *testing.T, d Demand, set batch.Settings) Account {
	t.Helper()
	a, err := Run(t.Context(), town(1500), 10, d, set)
	if err != nil {
		t.Fatal(err)
	}
	if n := a.Kept.Jobs + a.Outran.Jobs + a.Shortened.Jobs + a.Late.Jobs; n != a.Accepted.Jobs {
		t.Errorf("%d of %d accepted jobs are settled: %+v", n, a.Accepted.Jobs, a)
	}
	if w := a.Kept.Worth + a.Outran.Worth + a.Shortened.Worth + a.Late.Worth; w != a.Accepted.Worth {
		t.Errorf("worth %d of %d is settled", w, a.Accepted.Worth)
	}
	return a
}

func TestWithoutOverbookingTheProviderBreaksNothing(t *testing.T) {
	a := sell(t, demand, batch.Settings{"maxPoF": "0"})
	if a.Broken() != 0 || a.Fixed.Jobs == 0 || a.Outran.Jobs == 0 || a.Accepted.Jobs == a.Offered.Jobs {
		t.Errorf("%+v", a)
	}
}

func TestOverbookingAcceptsMoreAndBreaksSome(t *testing.T) {
	none := sell(t, demand, batch.Settings{"maxPoF": "0"})
	some := sell(t, demand, batch.Settings{"maxPoF": "0.3", "samples": "5"})
	if some.Accepted.Worth <= none.Accepted.Worth || some.Shortened.Jobs == 0 || some.Late.Jobs == 0 {
		t.Errorf("%+v\nwithout: %+v", some, none)
	}
	if some.Shortened.Jobs != some.Counts.Shortened || some.Vain == 0 {
		t.Errorf("%+v", some)
	}
	if got, want := some.Profit(2), some.Paid()-2*some.Broken(); got != want {
		t.Errorf("profit %v, want %v", got, want)
	}
	all, useful := some.Utilization(10)
	if useful <= 0 || useful >= all || all > 1 {
		t.Errorf("utilization %v, useful %v", all, useful)
	}
	saved := demand
	saved.Checkpoint = 1000
	paused := sell(t, saved, batch.Settings{"maxPoF": "0.3", "samples": "5"})
	if paused.Shortened.Jobs != 0 || paused.Counts.Paused == 0 {
		t.Errorf("%+v", paused)
	}
}

// What a job wants does not depend on what happens to others.
func TestDemandDependsOnTheSeedAndTheJobOnly(t *testing.T) {
	w := town(300)
	tight, loose := demand, demand
	tight.Slack, loose.Checkpoint = 0, 1000
	fixed, later := 0, 0
	for i := range w.Jobs {
		j := &w.Jobs[i]
		a, b := demand.of(j), tight.of(j)
		if a.fixed != b.fixed || a.from != b.from || a.due < b.due || b.due.Sub(b.from) != j.Walltime {
			t.Fatalf("job %d: %+v, tight %+v", j.ID, a, b)
		}
		if c := loose.of(j); !c.checkpoint || c.due != a.due {
			t.Fatalf("job %d: %+v, with checkpoints %+v", j.ID, a, c)
		}
		switch {
		case a.fixed:
			fixed++
			if ahead := a.from.Sub(j.Submit); ahead < notice || ahead > horizon || a.due.Sub(a.from) != j.Walltime {
				t.Fatalf("job %d: %+v", j.ID, a)
			}
		case a.from > j.Submit:
			later++
		}
	}
	if fixed < 15 || fixed > 50 || later < 100 || later > 180 {
		t.Errorf("of 300 jobs %d are fixed, and the windows of %d begin later", fixed, later)
	}
}

func smallPlan() *Plan {
	p := Quick
	p.add(Trace{"town", "", 10}, town(1500))
	return &p
}

func measure(t *testing.T, p *Plan) []Row {
	t.Helper()
	var rows []Row
	for _, c := range p.Cases() {
		row, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestARunIsAFunctionOfItsCase(t *testing.T) {
	var tables [2]bytes.Buffer
	for i := range tables {
		if err := WriteCSV(&tables[i], measure(t, smallPlan())); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(tables[0].String(), tables[1].String()); diff != "" {
		t.Errorf("(-once +again):\n%s", diff)
	}
	records, err := csv.NewReader(&tables[0]).ReadAll()
	if err != nil || len(records) != 21 || len(records[0]) != len(Columns) {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := smallPlan()
	if _, err := p.Cases()[0].Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	p.MaxPoF = []string{"2"}
	var setting *batch.SettingError
	if _, err := p.Cases()[0].Run(t.Context()); !errors.As(err, &setting) {
		t.Errorf("error %v", err)
	}
}

func TestDemandsOutOfRangeNameTheirField(t *testing.T) {
	for field, d := range map[string]Demand{
		"fixed": {Fixed: 1001}, "later": {Later: -1}, "slack": {Slack: maxSlack + 1}, "checkpoint": {Checkpoint: 1001},
	} {
		var bad *DemandError
		if _, err := Run(t.Context(), town(1), 10, d, nil); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func TestPlansNeedALog(t *testing.T) {
	var p Plan
	var none *NoTraceError
	missing, err := p.Load([]Trace{{"none", "no-such-log.swf", 1}})
	if !errors.As(err, &none) || len(missing) != 1 {
		t.Errorf("missing %v, error %v", missing, err)
	}
}

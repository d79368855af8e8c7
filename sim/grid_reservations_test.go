package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim"
)

// Three of four processors are set aside from 50 to 80. Job 1 ends by then; job 2, as
// wide as all, has to wait for the end; job 3 passes it where the policy lets it, beside
// the reservation.
func TestReservationsOfAScenarioAreKept(t *testing.T) {
	traces := map[string]string{"a.swf": rigid(1, 0, 50, 4, 50) + rigid(2, 10, 20, 4, 20) + rigid(3, 20, 30, 1, 30)}
	for policy, want := range map[string]string{
		"fcfs": "1@0-50 2@80-100 3@100-130",
		"easy": "1@0-50 2@80-100 3@50-80",
		"cbf":  "1@0-50 2@80-100 3@50-80",
	} {
		for _, mapping := range []string{"none", "mct"} {
			r := grid(t, fmt.Sprintf(`mapping: %s
sites: [{name: a, trace: a.swf, procs: 4, policy: %s}]
reservations: [{site: a, width: 3, start: 50s, end: 80s}]
`, mapping, policy), traces)
			wantSchedule(t, r, want)
		}
	}
}

// Job 2 would be done at 40 at a, were that not reserved from 20 on.
func TestMCTPlansAroundReservations(t *testing.T) {
	traces := map[string]string{"a.swf": rigid(1, 0, 10, 4, 10) + rigid(2, 0, 30, 4, 30)}
	const text = "mapping: mct\nsites: [{name: a, trace: a.swf, procs: 4, policy: cbf}, " +
		"{name: b, procs: 4, speed: 0.5, policy: easy}]\n"
	wantSchedule(t, grid(t, text, traces), "1@0-10a 2@10-40a")
	wantSchedule(t, grid(t, text+"reservations: [{site: a, width: 1, start: 20s, end: 60s}]\n", traces),
		"1@0-10a 2@0-60b")
}

func TestInvalidReservationsAreRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{site: b, width: 1, start: 0s, end: 1d}", `reservations[0].site: "b", accepted: the name of a site`},
		{
			"{site: d, width: 1, start: 0s, end: 1d}",
			`reservations[0].site: "d", accepted: a site whose policy takes reservations: cbf, dynp, easy, fcfs, overbook`,
		},
		{"{site: a, width: 0, start: 0s, end: 1d}", "reservations[0].width: 0, accepted: 1..4"},
		{"{site: a, width: 1, start: 1d, end: 1d}", `reservations[0].end: "1d", accepted: later than its start`},
		{"{site: a, width: 1, start: soon, end: 1d}", `reservations[0].start: "soon"`},
		{
			"{site: a, width: 3, start: 0s, end: 2d}, {site: a, width: 2, start: 1d, end: 3d}",
			"reservations[1].width: 2, accepted: 1..1, which other",
		},
		{"{site: a, width: 3, start: 0s, end: 2d}, {site: a, width: 2, start: 2d, end: 3d, at: 1}", "at"},
	} {
		scenario := "version: 1\nsites: [{name: a, trace: a.swf, procs: 4, policy: cbf}, " +
			"{name: d, procs: 4, policy: dfrs}]\nreservations: [" + c.text + "]\n"
		if _, err := sim.ParseScenario(strings.NewReader(scenario), "s"); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

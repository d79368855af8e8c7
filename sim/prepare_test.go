package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim"
)

// submitted writes when the jobs of a result were submitted, in seconds, with the
// letter of their site.
func submitted(r *sim.Result) string {
	var s []string
	for _, j := range r.Workload.Jobs {
		s = append(s, fmt.Sprintf("%d@%g%s", j.ID, float64(j.Submit)/1e6, r.Summary.Sites[j.Home].Name))
	}
	return strings.Join(s, " ")
}

// The first line of a was submitted at 1000 and b's at 5000, which is where their
// days begin, though the runtime of the first job of a is unknown.
func TestPartOfATraceStartsAtItsOffset(t *testing.T) {
	const day = 24 * 3600
	traces := map[string]string{
		"a.swf": rigid(1, 1000, -1, 1, 10) + rigid(2, 1000+day-1, 10, 1, 10) + rigid(3, 1000+day, 10, 1, 10) + rigid(4,
			1000+2*day-1, -1, 1, 10) +
			rigid(5, 1000+2*day-1, 10, 1, 10) + rigid(6, 1000+2*day, 10, 1, 10),
		"b.swf": rigid(7, 5000, 10, 1, 10) + rigid(8, 5000+day+7, 10, 1, 10),
	}
	for _, c := range []struct{ part, align, want string }{
		{"from: 1d, length: 1d", "true", "3@0a 8@7b 5@86399a"},
		{"from: 24h, length: 86399s", "true", "3@0a 8@7b"},
		{"from: 1d", "true", "3@0a 8@7b 5@86399a 6@86400a"},
		{"length: 1d", "true", "7@0b 2@86399a"},
		{"from: 0d, length: 2d", "true", "7@0b 2@86399a 3@86400a 8@86407b 5@172799a"},
		{"from: 10d, length: 1d", "true", ""},
		{"from: 1d, length: 1d", "false", "3@87400a 8@91407b 5@173799a"},
	} {
		r := grid(t, fmt.Sprintf(`align: %s
sites:
  - {name: a, trace: a.swf, %s, procs: 1, policy: cbf}
  - {name: b, trace: b.swf, %[2]s, procs: 1, policy: cbf}
`, c.align, c.part), traces)
		if got := submitted(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.part, got, c.want)
		}
		if c.part == "from: 1d, length: 1d" && r.Summary.Rejected.UnknownRuntime != 1 {
			t.Errorf("%s: %+v left out, want the one of that day", c.part, r.Summary.Rejected)
		}
	}
}

func TestGeneratedWorkloadHasItsJobsInItsSpan(t *testing.T) {
	r := grid(t, `sites:
  - {name: a, lublin: {jobs: 1000, span: 7d, seed: 3, classes: divided, estimates: "uniform:5"}, procs: 64, policy: cbf}
  - {name: b, lublin: {jobs: 10, seed: 4}, procs: 1, policy: cbf}
`, nil)
	var count [2]int
	last, estimated := 0., false
	for _, j := range r.Workload.Jobs {
		count[j.Home]++
		if j.Home == 0 {
			last = float64(j.Submit) / 1e6 / 3600 / 24
			estimated = estimated || j.Walltime > j.Runtime
		}
	}
	if count != [2]int{1000, 10} || last < 6.5 || last > 7 || !estimated {
		t.Errorf("%v jobs, the last after %g days, estimates %t", count, last, estimated)
	}
}

func TestBadScenariosOfExperimentsSayWhatIsAccepted(t *testing.T) {
	const site = "sites: [{name: a, trace: t, procs: 4, policy: cbf}, {name: b, procs: 4, policy: cbf}]\n"
	types := func(s string) string { return "mapping: mct\nmoldable: {types: [" + s + "]}\n" + site }
	for text, want := range map[string]string{
		"moldable: {}\n" + site: "moldable: with mapping " +
			"none",
		"local: {share: 0.5}\n" + site: "local: with mapping none",
		"network: {}\n" + site:         "network: with mapping none",
		"mapping: mct\nlocal: {share: 3/2}\n" +
			site: `local.share: "3/2", accepted: 0 to 1, as 0.8 or 2/3`,
		"mapping: mct\nlocal: {}\n" +
			site: `local.share: "", accepted: 0 to 1`,
		"mapping: mct\nseed: -1\n" +
			site: `line 3: seed: "-1", accepted: a whole number from 0`,
		"mapping: mct\ninput: 5\n" +
			site: `"5", accepted: bytes with a unit`,
		"mapping: mct\ninput: -5GB\n" +
			site: `"-5GB", accepted: bytes with a unit`,
		types(
			"{parallel: 0.8, limit: 0, share: 1}",
		): "moldable.types[0].limit: 0, accepted: 1..65536",
		types(
			"{parallel: 0.8, limit: -4, share: 1}",
		): "moldable.types[0].limit: -4, accepted: 1..65536",
		types(
			"{parallel: 1.8, limit: 4, share: 1}",
		): `moldable.types[0].parallel: "1.8", accepted: 0 to 1`,
		types(
			"{parallel: 1/3, limit: 4, share: 1}",
		): `moldable.types[0].parallel: "1/3", accepted: at most six decimals`,
		types(
			"{parallel: 1, limit: 4, share: most}",
		): `moldable.types[0].share: "most", accepted: 0 to 1`,
		types(
			"{parallel: 1, limit: 4, share: 0.999}",
		): "moldable.types: shares that add up to 999/1000, accepted: to 1",
		types("{parallel: 1, limit: 4, share: 0.5}, {parallel: 0, limit: 4, share: " +
			"2/3}"): "moldable.types: shares that add up to 7/6, accepted: to 1",
		types("{parallel: 1, limit: 4, share: 1/999999937}, {parallel: 1, limit: 4, share: " +
			"999999936/999999937}"): "",
		types("{parallel: 1, limit: 4, share: 1/999999937}, {parallel: 1, limit: 4, share: 1/999999893}, {parallel: " +
			"1, limit: 4, share: 0.999999998}"): "moldable.types: shares that add up to",
		types(strings.Repeat("{parallel: 1, limit: 4, share: 0.01},",
			101)): "moldable.types: 101, accepted: at most 100",
		"mapping: mct\nnetwork: {bandwidth: 5}\n" +
			site: `"5", accepted: a rate with its unit`,
		"mapping: mct\nnetwork: {latency: 5}\n" +
			site: `network.latency: "5", accepted: a length of time with its unit`,
		"mapping: mct\nnetwork: {links: [{from: a, to: c}]}\n" +
			site: `network.links[0]: from "a" to "c", accepted: two sites of the scenario, each pair once`,
		"mapping: mct\nnetwork: {links: [{from: a, to: a}]}\n" +
			site: `network.links[0]: from "a" to "a"`,
		"mapping: mct\nnetwork: {links: [{from: a, to: b}, {from: b, to: a}, {from: a, to: b}]}\n" +
			site: `network.links[2]: from "a" to "b"`,
		"sites: [{name: a, trace: t, from: 5, procs: 1, policy: cbf}]\n":             `sites[0].from: "5", accepted: a length of time with its unit, as 30d or 12h`,
		"sites: [{name: a, trace: t, length: 0d, procs: 1, policy: cbf}]\n":          `sites[0].length: "0d", accepted: at least 1s`,
		"sites: [{name: a, trace: t, length: -1d, procs: 1, policy: cbf}]\n":         `sites[0].length: "-1d", accepted`,
		"sites: [{name: a, lublin: {jobs: 5}, length: 1d, procs: 1, policy: cbf}]\n": `sites[0].length: "1d" without a trace`,
		"sites: [{name: a, lublin: {jobs: 5}, trace: t, procs: 1, policy: cbf}]\n": "sites[0].lublin: beside a " +
			"trace, accepted: one of the two",
		"sites: [{name: a, lublin: {}, procs: 1, policy: cbf}]\n": "sites[0].lublin: jobs: 0, " +
			"accepted: 1..10000000",
		"sites: [{name: a, lublin: {jobs: 5, classes: all}, procs: 1, policy: cbf}]\n": `sites[0].lublin: classes: all, accepted: undivided, divided, batch, interactive`,
		"sites: [{name: a, lublin: {jobs: 5, estimates: 3}, procs: 1, policy: cbf}]\n": `sites[0].lublin: estimates: "3", accepted: exact`,
		"sites: [{name: a, lublin: {jobs: 5, span: long}, procs: 1, policy: cbf}]\n":   `sites[0].lublin: span: "long", accepted: a length of time`,
		"mapping: mct\nreallocation: {window: 0, period: -1h}\n" +
			"sites: [{name: a, trace: t, procs: 1, speed: 0, policy: cbf}]\n": `window: "0", accepted: at least 1, or all`,
		"mapping: mct\nreallocation: {period: -1h}\nsites: [{name: a, trace: t, procs: 1, speed: 0, policy: cbf}]\n": `speed: "0", accepted: a number from 0.001 to 1000`,
		"mapping: mct\nmoldable: {types: [{parallel: 0.8, limit: 3000000000, share: 1}]}\n" +
			"sites: [{name: a, trace: t, procs: 1, speed: 0, policy: cbf}]\n": "limit: 3000000000, accepted: 1..65536",
	} {
		_, err := sim.ParseScenario(strings.NewReader("version: 1\n"+text), "s.yaml")
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestAVariantIsCheckedToo(t *testing.T) {
	const site = "version: 1\nsites: [{name: a, lublin: {jobs: 5}, procs: 1, policy: cbf}]\n"
	run := func(text string, v sim.Variant) error {
		s, err := sim.ParseScenario(strings.NewReader(text), "s.yaml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Prepare(context.Background(), "s.yaml")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(context.Background(), v, nil)
		return err
	}
	for want, v := range map[string]sim.Variant{
		"local share: 3/2, accepted: 0 to 1":                     {Local: sim.Fraction{Num: 3, Den: 2}},
		"local share: -1/2, accepted: 0 to 1":                    {Local: sim.Fraction{Num: -1, Den: 2}},
		`reallocation.heuristic: "best", accepted: mct`:          {Reallocation: &sim.Reallocation{Heuristic: "best"}},
		`reallocation.window: "0", accepted: at least 1, or all`: {Reallocation: &sim.Reallocation{Window: "0"}},
	} {
		if err := run("mapping: mct\n"+site, v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", v, err, want)
		}
	}
	for _, v := range []sim.Variant{{Local: sim.PaperLocal}, {Reallocation: &sim.Reallocation{}}} {
		if err := run(site, v); err == nil || !strings.Contains(err.Error(), "accepted: with mapping mct") {
			t.Errorf("%+v with mapping none: %v", v, err)
		}
	}
}

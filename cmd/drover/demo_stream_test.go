package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/server"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func TestDemoStreamIsAFunctionOfItsSeed(t *testing.T) {
	exported := cmp.AllowUnexported(demoRequest{})
	if diff := cmp.Diff(demoStream(7, demoFull), demoStream(7, demoFull), exported); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(demoStream(7, demoFull), demoStream(8, demoFull), exported) {
		t.Error("seeds 7 and 8 give the same stream")
	}
}

func TestDemoStreamHasAllServicesAndEndsInTime(t *testing.T) {
	for _, m := range []demoMode{demoFull, demoQuick} {
		for seed := range uint64(50) {
			stream := demoStream(seed, m)
			if len(stream) != m.jobs || stream[0].at != 0 {
				t.Fatalf("seed %d: %d requests, the first at %v", seed, len(stream), stream[0].at)
			}
			if !slices.IsSortedFunc(stream, func(a, b demoRequest) int { return int(a.at - b.at) }) {
				t.Errorf("seed %d: not in the order of submission", seed)
			}
			if last := stream[len(stream)-1].at; last != time.Duration(m.jobs-1)*m.gap {
				t.Errorf("seed %d: the last submission is at %v", seed, last)
			}
			count := make(map[string]int)
			for _, r := range stream {
				count[r.service]++
			}
			if count["sleep"] < m.jobs/2 || count["lu"] == 0 || count["mandelbrot"] == 0 {
				t.Errorf("seed %d: %v", seed, count)
			}
		}
	}
}

// demoServer writes the configuration of a site of the demo and reads it as a
// server does.
func demoServer(t *testing.T, s *demoSite, slow float64) server.Config {
	t.Helper()
	dir := t.TempDir()
	services, err := s.services(slow)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "site.yaml")
	if err := writeYAML(filepath.Join(dir, demoCatalogue(s.name)), services); err != nil {
		t.Fatal(err)
	}
	if err := writeYAML(path, s.config(dir, "127.0.0.1:7411")); err != nil {
		t.Fatal(err)
	}
	cfg, err := server.ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestDemoConfigurationsAreValid(t *testing.T) {
	data, err := yaml.Marshal(demoAgentConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.ParseConfig(data); err != nil {
		t.Error(err)
	}
	policies := ""
	for i := range demoSites {
		policies += demoServer(t, &demoSites[i], 1).Policy.Name + " "
	}
	if policies != "cbf cbf easy " {
		t.Errorf("policies: %s", policies)
	}
}

// TestDemoRequestsFitTheirSites binds every request to the catalogues. A site must be wide enough
// for it. The walltime of a sleep must not depend on the speed, and must leave the host time to
// start it.
func TestDemoRequestsFitTheirSites(t *testing.T) {
	for i := range demoSites {
		s := &demoSites[i]
		cfg := demoServer(t, s, 1)
		speed, err := catalogue.ParseSpeed(strconv.FormatFloat(s.speed, 'g', -1, 64))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []demoMode{demoFull, demoQuick} {
			for _, r := range demoStream(3, m) {
				service, err := cfg.Catalogue.Service(r.service)
				if err != nil {
					t.Fatal(err)
				}
				given := make(map[string]catalogue.Value)
				for name, v := range r.values {
					switch v := v.(type) {
					case int64:
						given[name] = catalogue.Int(v)
					case float64:
						given[name] = catalogue.Float(v)
					case []byte:
						given[name] = catalogue.FileIn(catalogue.File{Size: int64(len(v))})
					}
				}
				values, err := service.Bind(given)
				if err != nil {
					t.Fatalf("%s %v: %v", r.service, r.values, err)
				}
				shapes, err := service.Shapes(values, catalogue.Want{}, int32(2*s.nodes), speed)
				if p, ok := r.values["processors"].(int64); ok && p > int64(2*s.nodes) {
					continue // another site is wider
				}
				if err != nil || len(shapes) == 0 {
					t.Fatalf("%s %v at %s: %v", r.service, r.values, s.name, err)
				}
				slack := time.Duration(shapes[0].Walltime)*time.Microsecond - time.Second
				if r.service == "sleep" {
					seconds := r.values["seconds"].(float64)
					if slack = time.Duration(shapes[0].Walltime)*time.Microsecond - time.Duration(
						seconds*1e9,
					); slack > 1600*time.Millisecond {
						t.Errorf("sleep %g at %s: %v of slack", seconds, s.name, slack)
					}
				}
				if slack < 1500*time.Millisecond {
					t.Errorf("%s %v at %s: %v of slack", r.service, r.values, s.name, slack)
				}
			}
		}
	}
	if widest := 2 * demoSites[0].nodes; widest < 8 {
		t.Errorf("the widest site has %d processors, but some sleep jobs need 8", widest)
	}
}

func TestDemoPicturesAreCheap(t *testing.T) {
	share := make(map[float64]float64) // by zoom
	for _, v := range demoViews {
		share[v.zoom] = v.share
	}
	for _, r := range demoStream(5, demoFull) {
		if r.service != "mandelbrot" {
			continue
		}
		pixels := float64(r.values["columns"].(int64) * r.values["rows"].(int64))
		cost := pixels * float64(r.values["iterations"].(int64)) * share[r.values["zoom"].(float64)] *
			secondsPerIteration
		if least, most := slices.Min(demoFull.render)-0.1, slices.Max(demoFull.render)+0.1; !(least < cost &&
			cost < most) {
			t.Errorf("%v takes %.2f s of a processor", r.values, cost)
		}
	}
}

func TestDemoRefusesAbsurdNumbersOfJobs(t *testing.T) {
	for _, jobs := range []string{"--jobs=-1", "--jobs=1001"} {
		p, _, stderr := inProcess(&grid{}, "demo", jobs)
		if code := run(p); code != cmdline.ExitUsage {
			t.Errorf("%s: exit code %d: %s", jobs, code, stderr.buf.String())
		}
	}
}

func TestDemoStreamOfOneRequest(t *testing.T) {
	m := demoQuick
	m.jobs = 1
	if s := demoStream(1, m); len(s) != 1 || s[0].at != 0 || s[0].service != "mandelbrot" {
		t.Errorf("%+v", s)
	}
}

func TestSlowHostsGetLongerWalltimes(t *testing.T) {
	walltime := func(slow float64, name string, given map[string]catalogue.Value) time.Duration {
		t.Helper()
		service, err := demoServer(t, &demoSites[0], slow).Catalogue.Service(name)
		if err != nil {
			t.Fatal(err)
		}
		values, err := service.Bind(given)
		if err != nil {
			t.Fatal(err)
		}
		shapes, err := service.Shapes(values, catalogue.Want{}, 8, catalogue.Reference)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(shapes[0].Walltime) * time.Microsecond
	}
	sleep := map[string]catalogue.Value{"seconds": catalogue.Float(3.4)}
	if usual, slow := walltime(1, "sleep", sleep), walltime(4, "sleep", sleep); usual != 5*time.Second ||
		slow != 10*time.Second {
		t.Errorf("sleep: %v, and %v on a slow host", usual, slow)
	}
	// 0.1 s, 1.248 s for 624000 pixels of 1000 iterations, and 3 s.
	picture := map[string]catalogue.Value{"columns": catalogue.Int(960), "rows": catalogue.Int(650)}
	if usual, slow := walltime(1, "mandelbrot", picture), walltime(4, "mandelbrot", picture); usual != 5*time.Second ||
		slow != 18*time.Second {
		t.Errorf("mandelbrot: %v, and %v on a slow host", usual, slow)
	}
}

func TestSlownessIsAtLeastOneAndBounded(t *testing.T) {
	for probe, want := range map[time.Duration]float64{
		time.Millisecond: 1, probeUsual: 1, 119 * time.Millisecond: 1, 240 * time.Millisecond: 4, time.Hour: mostSlow,
	} {
		if got := slowness(probe); got != want {
			t.Errorf("slowness of %v: %v, want %v", probe, got, want)
		}
	}
}

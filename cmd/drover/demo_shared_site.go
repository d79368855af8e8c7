package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/server/services/primes"
)

// sharedMode says how large the demo of shared processors is. Work is seconds of a
// processor.
type sharedMode struct {
	waves int           // of long jobs, one for each node
	gap   time.Duration // between them
	long  float64       // work of each of them

	late  time.Duration // when a short job comes to full nodes
	short float64

	large time.Duration // after that one's end, when a job comes whose memory is nowhere free
	drawn float64
}

var (
	sharedFull = sharedMode{
		waves: 3, gap: 3 * time.Second, long: 9, late: 11 * time.Second, short: 0.4, large: 4 * time.Second, drawn: 1.5,
	}
	sharedQuick = sharedMode{
		waves: 3, gap: time.Second, long: 4.5, late: 6 * time.Second, short: 0.25, large: time.Second, drawn: 0.5,
	}
)

// sharedName is the site's, and the agent's word for it.
const sharedName = "shared"

// A node holds as many long jobs as there are waves, and one more. The large job takes
// the room of three.
const (
	sharedSlot  = 128 // MiB
	sharedSlots = 4
	largeSlots  = 3
)

// mostShared bounds the nodes, and so the jobs, that are shown.
const mostShared = 4

// sharedNodes is how many nodes of one processor this host can really have.
func sharedNodes() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU(), mostShared) }

// The kind of a job: what it is in the demo for.
const (
	kindLong  = "long"
	kindLate  = "late"
	kindLarge = "large"
)

// sharedRequest is one job of the demo.
type sharedRequest struct {
	at      time.Duration // of its submission, since the start; of the large one, since the end of the late one
	kind    string
	service string
	args    []client.Arg
}

// The picture of the large job.
const largeColumns, largeRows = 960, 640

// on returns the mode for a host on which sieving takes so many seconds for each number:
// where a long job is not as long because numbers are bounded, all comes sooner.
func (m sharedMode) on(cost float64) sharedMode {
	if most := cost * mostSieved; m.long > most {
		shorter := most / m.long
		m.long = most
		m.gap, m.late = time.Duration(shorter*float64(m.gap)), time.Duration(shorter*float64(m.late))
	}
	return m
}

// requests returns the jobs in the order of their submissions. Sieving takes so many
// seconds for each number.
func (m sharedMode) requests(nodes int, cost float64) []sharedRequest {
	owner := client.Owner("demo")
	sieve := func(at time.Duration, kind string, work float64) sharedRequest {
		return sharedRequest{at, kind, "primes", []client.Arg{owner, client.Int("below", int64(work/cost))}}
	}
	var all []sharedRequest
	for wave := range m.waves {
		for range nodes {
			all = append(all, sieve(time.Duration(wave)*m.gap, kindLong, m.long))
		}
	}
	all = append(all, sieve(m.late, kindLate, m.short))
	whole := demoViews[0]
	iterations := m.drawn / (secondsPerIteration * cost / usualSieve * whole.share * largeColumns * largeRows)
	return append(all, sharedRequest{m.large, kindLarge, "mandelbrot", []client.Arg{
		owner, client.Int("columns", largeColumns), client.Int("rows", largeRows), client.Int("iterations", max(1, int64(iterations))),
	}})
}

// Sieving is timed on so many numbers, and goes up to so many; usualSieve is what each
// takes a processor of today.
const (
	sieveProbe = 100_000_000
	mostSieved = primes.MostBelow
	usualSieve = 1.3e-9 // seconds
)

// sieveCost returns the processor time for each number that is sieved on this host.
func sieveCost(ctx context.Context, program string) (float64, error) {
	var least time.Duration
	for range probes {
		cmd := exec.CommandContext(ctx, program, "service", "primes", "--below="+strconv.Itoa(sieveProbe))
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("a service does not run on this host: %w: %s", err, out)
		}
		if took := cmd.ProcessState.UserTime(); least == 0 || took < least {
			least = took
		}
	}
	return max(least, time.Millisecond).Seconds() / sieveProbe, nil
}

// sharedPlan is the plan of a site under dfrs. It notes what sieving costs.
func sharedPlan(nodes int, cost *float64) demoPlan {
	return func(ctx context.Context, program, dir, seed string) (_ []demoSetup, err error) {
		if *cost, err = sieveCost(ctx, program); err != nil {
			return nil, err
		}
		services, err := sharedServices(*cost)
		if err != nil {
			return nil, err
		}
		return []demoSetup{{sharedName, sharedConfig(nodes, dir, seed), services}}, nil
	}
}

// sharedConfig has needs as they are declared: what is shown is how shares follow jobs
// that come and go, and nothing else.
func sharedConfig(nodes int, dir, seed string) document {
	return document{
		"version": 1, "name": sharedName, "listen": "127.0.0.1:0",
		"data_dir": filepath.Join(dir, sharedName),
		"gossip":   document{"bind": "127.0.0.1:0", "seeds": []string{seed}},
		"nodes":    []document{{"name": "node", "count": nodes, "processors": 1, "memory": mebibyteText(sharedSlot * sharedSlots)}},
		"policy":   document{"name": "dfrs", "settings": document{"discover": "off"}},
		"grace":    demoGrace.String(), "on_stop": "end",
		"services": document{"catalogue": demoCatalogue(sharedName)},
	}
}

func mebibyteText(n int) string { return strconv.Itoa(n) + "MiB" }

// sharedServices has walltimes that no busy host reaches, for forecasts are not what this
// is about.
func sharedServices(cost float64) (document, error) {
	patient := document{"factor": 10, "margin": "30s"}
	return bundledWith(map[string]document{
		"primes": {
			"memory": mebibyteText(sharedSlot), "walltime": patient,
			"model": document{"fixed": document{"width": 1, "time": fmt.Sprintf("0.05 + %g * below", cost)}},
		},
		"mandelbrot": {
			"memory": mebibyteText(sharedSlot * largeSlots), "walltime": patient,
			"model": document{"fixed": document{"width": 1, "time": fmt.Sprintf("0.05 + %g * columns * rows * iterations", 6.5e-10*cost/usualSieve)}},
		},
	})
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/server/services/primes"
)

// The demo of a policy that shares processors: one site on virtual nodes of this host.
//
//	long   ████████▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒░▒▒▒▒▒▒▒▒ ...   shares: 1, 1/2, 1/3, 1/4, 1/3
//	long           ▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒░▒▒▒▒▒▒▒▒ ...
//	long                   ▒▒▒▒▒▒▒▒░▒▒▒▒▒▒▒▒ ...
//	late                           ░               served at once
//	large                              ▒▒▒▒        others free memory for it
const (
	sharedLook = 100 * time.Millisecond // between two looks at the site
	sharedLag  = 3 * time.Minute        // from the last submission to the end of the last job
)

// share runs the demo of shared processors, with its checks.
func (c *demoCmd) share(ctx context.Context, cancel context.CancelCauseFunc, a *app) error {
	mode := sharedFull
	if c.Quick {
		mode = sharedQuick
	}
	var cost float64
	nodes := sharedNodes()
	g, err := startDemoGrid(ctx, cancel, sharedPlan(nodes, &cost))
	if err != nil {
		return err
	}
	err = c.showShared(ctx, a, g, mode.on(cost).requests(nodes, cost))
	if e := g.stop(); err == nil {
		err = e
	}
	return err
}

// showShared executes the jobs and prints the results.
func (c *demoCmd) showShared(ctx context.Context, a *app, g *demoGrid, requests []sharedRequest) error {
	sum, err := executeShared(ctx, a, g, requests)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // the end of a member, or Ctrl-C, rather than the calls that failed because of it
	}
	if err != nil {
		return err
	}
	if a.flags.JSON {
		err = cmdline.WriteJSON(a.Stdout, sum)
	} else {
		err = sum.print(a.Stdout)
	}
	if err != nil {
		return err
	}
	if err := c.keep(ctx, a, g); err != nil {
		return err
	}
	if n := sum.failed(); n > 0 {
		return fmt.Errorf("%d of %d checks failed", n, len(sum.Checks))
	}
	return nil
}

// executeShared executes the jobs and returns the summary.
func executeShared(ctx context.Context, a *app, g *demoGrid, requests []sharedRequest) (*sharedSummary, error) {
	grid, err := client.New(client.Default(g.agent.URL))
	if err != nil {
		return nil, err
	}
	a.client = grid // a closes it
	if _, err := awaitSites(ctx, grid, 1); err != nil {
		return nil, err
	}
	board := newSharedBoard(time.Now(), requests)
	screen := newDemoTerminal(a)
	err = playShared(ctx, grid, board, screen)
	screen.draw(func(rows int) []string { return board.frame(time.Now(), rows) })
	screen.end()
	if err != nil {
		return nil, err
	}
	found, err := resultsOf(ctx, grid, board)
	if err != nil {
		return nil, err
	}
	return summarizeShared(board, found), nil
}

// playShared submits each job at its time, and watches the jobs and the site to the end.
func playShared(ctx context.Context, grid *client.Client, board *sharedBoard, screen *demoTerminal) error {
	ctx, stop := context.WithCancelCause(ctx)
	var jobs, watcher sync.WaitGroup
	defer func() {
		stop(nil)
		jobs.Wait()
		watcher.Wait()
	}()
	say := func(news []string) {
		for _, line := range news {
			screen.say(line)
		}
		screen.draw(func(rows int) []string { return board.frame(time.Now(), rows) })
	}
	watcher.Go(func() {
		shown := false
		err := grid.WatchSite(ctx, sharedName, sharedLook, func(u *client.SiteUse) (bool, error) {
			if !shown {
				shown = true
				screen.say(enforcedBy(enforcement(u.Capabilities)))
			}
			say(board.saw(u))
			return false, nil
		})
		if ctx.Err() == nil {
			stop(fmt.Errorf("watching the site: %w", err))
		}
	})
	ended := make(chan struct{}) // the late job
	for n := range board.jobs {
		r := &board.jobs[n].sharedRequest
		since := board.start
		if r.kind == kindLarge {
			select {
			case <-ended:
				since = time.Now()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := until(ctx, since.Add(r.at)); err != nil {
			return err
		}
		board.ask(n)
		job, err := grid.Submit(ctx, r.service, r.args...)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return fmt.Errorf("job %d, %s: %w", n+1, r.service, err)
		}
		say(board.changed(n, job))
		jobs.Go(func() {
			if _, err := grid.Watch(ctx, job.ID, func(j *client.Job) { say(board.changed(n, j)) }); err != nil {
				stop(fmt.Errorf("job %d, %s: %w", n+1, job.Service, err))
			}
			if r.kind == kindLate {
				close(ended)
			}
		})
	}
	late := time.AfterFunc(sharedLag, func() {
		stop(fmt.Errorf("jobs still run %v after the last submission", sharedLag))
	})
	defer late.Stop()
	jobs.Wait()
	return context.Cause(ctx)
}

// enforcedBy says how this host enforces shares.
func enforcedBy(ways []string) string {
	text := "enforced by " + strings.Join(ways, " ")
	switch {
	case slices.Contains(ways, "shares=none"):
		text += ": shares are not enforced here"
	case slices.Contains(ways, "shares=signals"):
		text += ": no control groups here, so jobs are stopped and continued by signals"
	}
	return text
}

// sharedResults holds the results of the long jobs, by the number of the job, and the error
// of the picture.
type sharedResults struct {
	primes  map[int]string
	picture error
}

// resultsOf downloads the results of the jobs.
func resultsOf(ctx context.Context, grid *client.Client, b *sharedBoard) (*sharedResults, error) {
	r := &sharedResults{primes: make(map[int]string)}
	for n := range b.jobs {
		j := &b.jobs[n]
		var out bytes.Buffer
		var err error
		switch j.kind {
		case kindLong:
			if err = grid.Logs(ctx, j.job.ID, client.LogOptions{}, &out); err == nil {
				r.primes[n] = lastWith(out.String(), "primes ")
			}
		case kindLarge:
			if err = grid.Download(ctx, j.job.ID, "image", &out); err == nil {
				err = new(demoChecks).picture(&demoRequest{values: map[string]any{
					"columns": int64(largeColumns), "rows": int64(largeRows),
				}}, out.Bytes())
			}
			r.picture, err = err, nil
		}
		if err != nil {
			return nil, fmt.Errorf("result of job %d, %s: %w", n+1, j.service, err)
		}
	}
	return r, nil
}

// lastWith returns the last line with this prefix, with single spaces; "" if there is none.
func lastWith(text, prefix string) (found string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			found = strings.Join(strings.Fields(line), " ")
		}
	}
	return found
}

// sharedMode is the size of the demo of shared processors. Work is in processor seconds.
type sharedMode struct {
	waves int           // of long jobs, one for each node
	gap   time.Duration // between them
	long  float64       // work of each of them

	late  time.Duration // when a short job arrives at full nodes
	short float64

	large time.Duration // after its end, when a job arrives that fits into the memory of no node
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

// sharedName is the name of the site.
const sharedName = "shared"

// The memory of a node holds one long job per wave, and one more. The large job takes the
// memory of three.
const (
	sharedSlot  = 128 // MiB
	sharedSlots = 4
	largeSlots  = 3
)

// mostShared bounds the nodes and so the jobs.
const mostShared = 4

// sharedNodes returns the number of one-processor nodes for this host.
func sharedNodes() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU(), mostShared) }

// The kinds of jobs in the demo.
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

// on returns the mode for a host on which sieving costs this many seconds per number. The
// range of numbers is bounded, so long jobs can be shorter than planned; then everything
// happens earlier.
func (m sharedMode) on(cost float64) sharedMode {
	if most := cost * mostSieved; m.long > most {
		shorter := most / m.long
		m.long = most
		m.gap, m.late = time.Duration(shorter*float64(m.gap)), time.Duration(shorter*float64(m.late))
	}
	return m
}

// requests returns the jobs in the order of submission. cost is seconds of sieving per
// number.
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
		owner, client.Int("columns", largeColumns), client.Int("rows", largeRows),
		client.Int("iterations", max(1, int64(iterations))),
	}})
}

// sieveProbe numbers are sieved to measure the host, and at most mostSieved in a job.
// usualSieve is the cost on a current processor.
const (
	sieveProbe = 100_000_000
	mostSieved = primes.MostBelow
	usualSieve = 1.3e-9 // seconds
)

// sieveCost returns the processor seconds per sieved number on this host.
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

// sharedPlan is the plan of a site under dfrs. It stores the cost of sieving.
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

// sharedConfig uses declared needs only: the demo shows how shares follow arriving and
// ending jobs.
func sharedConfig(nodes int, dir, seed string) document {
	return document{
		"version": 1, "name": sharedName, "listen": "127.0.0.1:0",
		"data_dir": filepath.Join(dir, sharedName),
		"gossip":   document{"bind": "127.0.0.1:0", "seeds": []string{seed}},
		"nodes": []document{{
			"name": "node", "count": nodes, "processors": 1, "memory": mebibyteText(sharedSlot * sharedSlots),
		}},
		"policy": document{"name": "dfrs", "settings": document{"discover": "off"}},
		"grace":  demoGrace.String(), "on_stop": "end",
		"services": document{"catalogue": demoCatalogue(sharedName)},
	}
}

func mebibyteText(n int) string { return strconv.Itoa(n) + "MiB" }

// sharedServices has long walltimes, so that no job is killed on a busy host.
func sharedServices(cost float64) (document, error) {
	patient := document{"factor": 10, "margin": "30s"}
	return bundledWith(map[string]document{
		"primes": {
			"memory": mebibyteText(sharedSlot), "walltime": patient,
			"model": document{"fixed": document{"width": 1, "time": fmt.Sprintf("0.05 + %g * below", cost)}},
		},
		"mandelbrot": {
			"memory": mebibyteText(sharedSlot * largeSlots), "walltime": patient,
			"model": document{"fixed": document{
				"width": 1, "time": fmt.Sprintf("0.05 + %g * columns * rows * iterations", 6.5e-10*cost/usualSieve),
			}},
		},
	})
}

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
//	large                              ▒▒▒▒        others make place for its memory
const (
	sharedLook = 100 * time.Millisecond // between two looks at the site
	sharedLag  = 3 * time.Minute        // from the last submission to the end of the last job
)

// share shows how processors are shared on this host, and checks it.
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

// showShared has the jobs executed and tells what came of it.
func (c *demoCmd) showShared(ctx context.Context, a *app, g *demoGrid, requests []sharedRequest) error {
	sum, err := executeShared(ctx, a, g, requests)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // a member that ended, or the user: not the calls that failed for it
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

// executeShared has the jobs executed and returns what came of it.
func executeShared(ctx context.Context, a *app, g *demoGrid, requests []sharedRequest) (*sharedSummary, error) {
	grid, err := client.New(client.Default(g.agent.url))
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

// playShared submits the jobs when it is time, and follows them and the site to the end.
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
		told := false
		err := grid.WatchSite(ctx, sharedName, sharedLook, func(u *client.SiteUse) (bool, error) {
			if !told {
				told = true
				screen.say(heldBy(enforcement(u.Capabilities)))
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
	late := time.AfterFunc(sharedLag, func() { stop(fmt.Errorf("jobs are still there %v after the last submission", sharedLag)) })
	defer late.Stop()
	jobs.Wait()
	return context.Cause(ctx)
}

// heldBy says what holds jobs to their shares on this host.
func heldBy(ways []string) string {
	text := "held by " + strings.Join(ways, " ")
	switch {
	case slices.Contains(ways, "shares=none"):
		text += ": nothing holds jobs to their shares here"
	case slices.Contains(ways, "shares=signals"):
		text += ": no control groups here, so jobs are stopped and continued by signals"
	}
	return text
}

// sharedResults are what the long jobs have found, by the number of the job, and what is wrong
// with the picture.
type sharedResults struct {
	primes  map[int]string
	picture error
}

// resultsOf downloads what the jobs have found.
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
				err = new(demoChecks).picture(&demoRequest{values: map[string]any{"columns": int64(largeColumns), "rows": int64(largeRows)}}, out.Bytes())
			}
			r.picture, err = err, nil
		}
		if err != nil {
			return nil, fmt.Errorf("result of job %d, %s: %w", n+1, j.service, err)
		}
	}
	return r, nil
}

// lastWith returns the last line that begins so, in single blanks; empty if there is none.
func lastWith(text, prefix string) (found string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			found = strings.Join(strings.Fields(line), " ")
		}
	}
	return found
}

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

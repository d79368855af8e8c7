package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

type benchCmd struct {
	Submit      benchSubmitCmd   `cmd:"" help:"Measure how many jobs a server takes, and how fast it answers."`
	Transfer    benchTransferCmd `cmd:"" help:"Measure how fast files move to a site and back, beside plain HTTP."`
	VersusSlurm benchVersusCmd   `cmd:"" help:"Compare with Slurm's own rule for several clusters, on private clusters of real Slurm."`
}

// The ranges of the benchmark's flags.
const (
	mostClients  = 1024
	longestBench = time.Hour
	benchService = "noop"
)

type benchSubmitCmd struct {
	Args     []string      `arg:"" optional:"" name:"name=value" help:"Arguments of the service."`
	Clients  int           `default:"32" help:"Clients that submit at the same time, each on a connection of its own."`
	Duration time.Duration `default:"10s" help:"How long they submit."`
	Rate     float64       `default:"0" help:"Submissions per second that all of them together try; 0 for as many as are answered."`
	Service  string        `default:"noop" help:"What is submitted."`
	Held     bool          `help:"Jobs that only wait: their earliest start is a day away."`
	Server   string        `placeholder:"URL" xor:"target" help:"The server to measure. Without this and --via-agent one of its own is started, and removed afterwards."`
	Slurm    string        `placeholder:"FILE" xor:"target" help:"Compare with plain sbatch on the cluster of this slurm.conf: a server of its own is put in front of it, and both submit --jobs in turns. 8 --clients are fair."`
	Jobs     int           `default:"1000" help:"Of --slurm: submissions of each turn."`
	ViaAgent bool          `xor:"target" help:"Submit through the agent of --agent, which chooses a site for each job."`
}

func (c *benchSubmitCmd) Run(a *app) error {
	switch {
	case c.Clients < 1 || c.Clients > mostClients:
		return &usageError{message: fmt.Sprintf("--clients %d, accepted: 1..%d", c.Clients, mostClients)}
	case c.Duration <= 0 || c.Duration > longestBench:
		return &usageError{message: fmt.Sprintf("--duration %v, accepted: above 0s, up to %v", c.Duration, longestBench)}
	case math.IsNaN(c.Rate) || math.IsInf(c.Rate, 0) || c.Rate < 0:
		return &usageError{message: fmt.Sprintf("--rate %v, accepted: 0 or more", c.Rate)}
	}
	if c.Slurm != "" {
		return c.versusSlurm(a)
	}
	args, err := (&request{Args: c.Args}).arguments(c.Service, time.Now(), client.Text)
	if err != nil {
		return err
	}
	if c.Held {
		args = append(args, client.EarliestStart(time.Now().Add(24*time.Hour)))
	}
	if c.Server == "" && !c.ViaAgent {
		own, err := startBenchServer(a, func(dir string) string {
			return fmt.Sprintf(benchSite, filepath.Join(dir, "data"), benchProcessors)
		})
		if err != nil {
			return err
		}
		defer own.stop()
		c.Server = own.url
	}
	view, err := c.measure(a, args)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return writeJSON(a.stdout, view)
	}
	printBench(a.stdout, view)
	return nil
}

// submitter is one client of the benchmark.
type submitter struct {
	submit func(context.Context) error
	status func(context.Context) (*client.Status, error)
	close  func()

	took    []time.Duration // of those that were acknowledged
	refused map[string]int  // by reason
}

// submitter returns a client with connections of its own.
func (c *benchSubmitCmd) submitter(a *app, args []client.Arg) (*submitter, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	s := &submitter{refused: make(map[string]int)}
	if c.ViaAgent {
		grid, err := client.New(cfg)
		if err != nil {
			return nil, err
		}
		s.close = grid.Close
		s.submit = func(ctx context.Context) error { _, err := grid.Submit(ctx, c.Service, args...); return err }
		s.status = func(ctx context.Context) (*client.Status, error) { return statusOfAll(ctx, grid) }
		return s, nil
	}
	server, err := client.NewDirect(c.Server, cfg)
	if err != nil {
		return nil, err
	}
	s.close = server.Close
	s.submit = func(ctx context.Context) error { _, err := server.Submit(ctx, c.Service, args...); return err }
	s.status = server.Status
	return s, nil
}

// statusOfAll adds up the queues of all sites.
func statusOfAll(ctx context.Context, grid *client.Client) (*client.Status, error) {
	sites, err := grid.Sites(ctx)
	if err != nil {
		return nil, err
	}
	var sum client.Status
	for i := range sites {
		if q := sites[i].Status; q != nil {
			sum.Running += q.Running
			sum.Waiting += q.Waiting
			sum.Ended += q.Ended
			sum.Commits += q.Commits
			sum.Syncs += q.Syncs
		}
	}
	return &sum, nil
}

// measure lets the clients submit, and says what came of it.
func (c *benchSubmitCmd) measure(a *app, args []client.Arg) (*benchView, error) {
	clients := make([]*submitter, c.Clients)
	for i := range clients {
		s, err := c.submitter(a, args)
		if err != nil {
			return nil, err
		}
		defer s.close()
		clients[i] = s
	}
	before, err := clients[0].status(a.ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	end := began.Add(c.Duration)
	var wg sync.WaitGroup
	for i, s := range clients {
		wg.Go(func() { s.run(a.ctx, began, end, c.Rate, i, c.Clients) })
	}
	wg.Wait()
	took := time.Since(began)
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	after, err := clients[0].status(a.ctx)
	if err != nil {
		return nil, err
	}
	v := &benchView{
		Schema: "drover.bench.submit/1", Clients: c.Clients, Rate: c.Rate, Duration: took.Seconds(), Refusals: make(map[string]int),
		Completed: after.Ended - before.Ended, Commits: after.Commits - before.Commits, Syncs: after.Syncs - before.Syncs,
		Waiting: after.Waiting, Running: after.Running,
	}
	var all []time.Duration
	for _, s := range clients {
		all = append(all, s.took...)
		for reason, n := range s.refused {
			v.Refused += n
			v.Refusals[reason] += n
		}
	}
	v.Acknowledged = len(all)
	v.Latency = latencyOf(all)
	v.AcknowledgedRate = float64(v.Acknowledged) / v.Duration
	v.CompletedRate = float64(v.Completed) / v.Duration
	v.CommitRate = float64(v.Commits) / v.Duration
	v.SyncRate = float64(v.Syncs) / v.Duration
	return v, nil
}

// run submits until the end. With a rate, every of-th submission of all is its
// own, from the index on, and is due at a fixed instant: what it takes counts
// from there, so that a server that falls behind is not spared.
func (s *submitter) run(ctx context.Context, began, end time.Time, rate float64, index, of int) {
	for n := index; ; n += of {
		due := time.Now()
		if rate > 0 {
			due = began.Add(time.Duration(float64(n) / rate * float64(time.Second)))
		}
		if !due.Before(end) {
			return
		}
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if err := s.submit(ctx); err != nil {
			s.refused[reasonOf(err)]++
			continue
		}
		s.took = append(s.took, time.Since(due))
	}
}

// latencyOf returns the percentiles of what acknowledgements took.
func latencyOf(took []time.Duration) latencyView {
	if len(took) == 0 {
		return latencyView{}
	}
	slices.Sort(took)
	at := func(share float64) float64 { // the nearest rank
		return took[max(0, int(math.Ceil(share*float64(len(took))))-1)].Seconds()
	}
	return latencyView{P50: at(0.50), P90: at(0.90), P99: at(0.99), Max: at(1)}
}

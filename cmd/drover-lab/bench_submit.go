package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

type benchCmd struct {
	Submit      benchSubmitCmd   `cmd:"" help:"Measure how many jobs a server takes, and how fast it answers."`
	Transfer    benchTransferCmd `cmd:"" help:"Measure how fast files move to a site and back, beside plain HTTP."`
	VersusSlurm benchVersusCmd   `cmd:"" help:"Compare with Slurm's own rule for several clusters, on private clusters of real Slurm."`
}

// benchSite is the configuration of the server that is measured: one service that does
// nothing, on a machine on which many of its jobs can run at once.
const benchSite = `version: 1
name: bench
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %q
on_stop: end
grace: 1s
nodes: [{processors: %d}]
limits: {waiting: 1000000}
services:
  inline:
    - name: noop
      doc: Does nothing.
      command: ["true"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: "1"}}
`

// benchProcessors is how many jobs run at once: enough that starting them is the
// bottleneck, few enough for a small host.
const benchProcessors = 16

// The ranges of the benchmark's flags.
const (
	mostClients  = 1024
	longestBench = time.Hour
	benchService = "noop"
)

type benchSubmitCmd struct {
	Args     []string      `arg:"" optional:"" name:"name=value" help:"Arguments of the service."`
	Clients  int           `default:"32" help:"Clients that submit at the same time, each on its own connection."`
	Duration time.Duration `default:"10s" help:"How long the clients submit."`
	Rate     float64       `default:"0" help:"Submissions per second of all clients together; 0: each submits again as soon as it has an answer."`
	Service  string        `default:"noop" help:"The service that is submitted."`
	Held     bool          `help:"Submit jobs that only wait: their earliest start is a day away."`
	Server   string        `placeholder:"URL" xor:"target" help:"The server to measure. Without this and --via-agent the command starts one, and removes it afterwards."`
	Slurm    string        `placeholder:"FILE" xor:"target" help:"Compare with plain sbatch on the cluster of this slurm.conf: the command starts a server in front of it, and both submit --jobs in turns. 8 --clients are fair."`
	Jobs     int           `default:"1000" help:"With --slurm: submissions of each turn."`
	ViaAgent bool          `xor:"target" help:"Submit through an agent, which chooses a site for each job."`
	Agent    []string      `placeholder:"URL" help:"Agents of --via-agent; repeatable. Default: DROVER_AGENTS, those of the file DROVER_CONFIG, or one on this host."`

	droverFlag
}

func (c *benchSubmitCmd) Run(a *app) error {
	switch {
	case c.Clients < 1 || c.Clients > mostClients:
		return &cmdline.UsageError{Message: fmt.Sprintf("--clients %d, accepted: 1..%d", c.Clients, mostClients)}
	case c.Duration <= 0 || c.Duration > longestBench:
		return &cmdline.UsageError{Message: fmt.Sprintf("--duration %v, accepted: above 0s, up to %v", c.Duration,
			longestBench)}
	case math.IsNaN(c.Rate) || math.IsInf(c.Rate, 0) || c.Rate < 0:
		return &cmdline.UsageError{Message: fmt.Sprintf("--rate %v, accepted: 0 or more", c.Rate)}
	}
	if c.Slurm != "" {
		return c.versusSlurm(a)
	}
	var args []client.Arg
	for _, arg := range c.Args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return &cmdline.UsageError{Message: fmt.Sprintf("argument %q, accepted: name=value", arg)}
		}
		args = append(args, client.Text(name, value))
	}
	if c.Held {
		args = append(args, client.EarliestStart(time.Now().Add(24*time.Hour)))
	}
	if c.Server == "" && !c.ViaAgent {
		own, err := c.startServer(a, func(dir string) string {
			return fmt.Sprintf(benchSite, filepath.Join(dir, "data"), benchProcessors)
		})
		if err != nil {
			return err
		}
		defer own.stop()
		c.Server = own.URL
	}
	view, err := c.measure(a, args)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, view)
	}
	printBench(a.Stdout, view)
	return nil
}

// config returns how the grid is reached.
func (c *benchSubmitCmd) config(a *app) (client.Config, error) {
	cfg, err := client.Environment(a.Getenv)
	if len(c.Agent) > 0 {
		cfg.Agents = c.Agent
	}
	cfg.Owner = cmp.Or(cfg.Owner, a.Getenv("USER"))
	return cfg, err
}

// submitter is one client of the benchmark.
type submitter struct {
	submit func(context.Context) error
	status func(context.Context) (*client.Status, error)
	close  func()

	took    []time.Duration // of those that were acknowledged
	refused map[string]int  // by reason
}

// submitter returns a client with its own connections.
func (c *benchSubmitCmd) submitter(a *app, args []client.Arg) (*submitter, error) {
	cfg, err := c.config(a)
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
		Schema: "drover.bench.submit/1", Clients: c.Clients, Rate: c.Rate, Duration: took.Seconds(),
		Refusals:  make(map[string]int),
		Completed: after.Ended - before.Ended, Commits: after.Commits - before.Commits,
		Syncs:   after.Syncs - before.Syncs,
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

// run submits until the end. With a rate, every of-th submission is its own, from the
// index on, and is due at a fixed instant. Latency counts from there: a server that falls
// behind is not spared.
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

type benchView struct {
	Schema           string         `json:"schema"`
	Clients          int            `json:"clients"`
	Rate             float64        `json:"rate"` // asked for; 0: unbounded
	Duration         float64        `json:"duration"`
	Acknowledged     int            `json:"acknowledged"`
	Refused          int            `json:"refused"`
	Refusals         map[string]int `json:"refusals"`
	Latency          latencyView    `json:"latency"`
	AcknowledgedRate float64        `json:"acknowledged_per_second"`
	Completed        int64          `json:"completed"`
	CompletedRate    float64        `json:"completed_per_second"`
	Commits          int64          `json:"commits"`
	CommitRate       float64        `json:"commits_per_second"`
	Syncs            int64          `json:"syncs"`
	SyncRate         float64        `json:"syncs_per_second"`
	Waiting          int            `json:"waiting"`
	Running          int            `json:"running"`
}

type latencyView struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// reasonOf names why a submission was not acknowledged.
func reasonOf(err error) string {
	if _, ok := errors.AsType[*submission.UnknownError](err); ok {
		return "unknown"
	}
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		return string(e.Reason)
	}
	return "other"
}

func printBench(w io.Writer, v *benchView) {
	t := cmdline.NewTable(w, nil)
	row := func(name, format string, args ...any) { t.AppendRow(table.Row{name, fmt.Sprintf(format, args...)}) }
	ms := func(s float64) string {
		return fmt.Sprintf("%.1fms", time.Duration(s*float64(time.Second)).Seconds()*1000)
	}
	offered := "unbounded"
	if v.Rate > 0 {
		offered = fmt.Sprintf("%g/s", v.Rate)
	}
	row("clients", "%d", v.Clients)
	row("offered", "%s", offered)
	row("duration", "%.1fs", v.Duration)
	row("acknowledged", "%d, %.0f/s", v.Acknowledged, v.AcknowledgedRate)
	row("refused", "%d", v.Refused)
	for _, reason := range slices.Sorted(maps.Keys(v.Refusals)) {
		row("  "+reason, "%d", v.Refusals[reason])
	}
	row("latency", "p50 %s, p90 %s, p99 %s, max %s", ms(v.Latency.P50), ms(v.Latency.P90), ms(v.Latency.P99),
		ms(v.Latency.Max))
	row("completed", "%d, %.0f/s", v.Completed, v.CompletedRate)
	row("commits", "%d, %.0f/s", v.Commits, v.CommitRate)
	row("syncs", "%d, %.0f/s", v.Syncs, v.SyncRate)
	row("queue", "%d waiting, %d running", v.Waiting, v.Running)
	t.Render()
}

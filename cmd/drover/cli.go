package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/alecthomas/kong"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// cli is the command line.
type cli struct {
	Agent    []string       `placeholder:"URL" help:"URL of an agent. Repeatable: the next one is tried if one does not answer. Default: DROVER_AGENTS (separated by commas), the agents of the file DROVER_CONFIG, or an agent on this host."`
	JSON     bool           `name:"json" xor:"output" help:"Print JSON; see docs/scripting.md."`
	Quiet    bool           `short:"q" xor:"output" help:"Print only IDs, or names of sites and services, and no progress. Commands that print no IDs refuse it."`
	Patience *time.Duration `placeholder:"D" help:"How long to retry when the grid does not answer. Default: 10s; 5m for wait, logs, --wait, and for call after the job is accepted."`
	Debug    bool           `help:"Log retries and their reasons on stderr."`
	Version  bool           `help:"Print the version."`

	Submit       submitCmd       `cmd:"" quiet:"" group:"jobs" help:"Submit a request and print the job's ID."`
	Call         callCmd         `cmd:"" quiet:"" group:"jobs" help:"Submit a request, wait, and fetch the results; exit with the job's status."`
	Estimate     estimateCmd     `cmd:"" group:"jobs" help:"Show when each site would finish a request at each width; submit nothing."`
	Wait         waitCmd         `cmd:"" quiet:"" group:"jobs" help:"Wait for jobs; exit with their status."`
	Job          jobCmd          `cmd:"" quiet:"" group:"jobs" help:"Show jobs."`
	Queue        queueCmd        `cmd:"" quiet:"" group:"jobs" help:"List the jobs that have not ended."`
	Logs         logsCmd         `cmd:"" quiet:"" group:"jobs" help:"Print the output of jobs."`
	Cancel       cancelCmd       `cmd:"" quiet:"" group:"jobs" help:"Cancel jobs."`
	Get          getCmd          `cmd:"" quiet:"" group:"jobs" help:"Fetch the output files of jobs."`
	Why          whyCmd          `cmd:"" group:"jobs" help:"Show why a site was chosen for a job."`
	Move         moveCmd         `cmd:"" quiet:"" group:"jobs" help:"Move a waiting job to another site."`
	Reserve      reserveCmd      `cmd:"" quiet:"" group:"jobs" help:"Reserve processors and print the reservation's ID."`
	Reservations reservationsCmd `cmd:"" quiet:"" group:"jobs" help:"List reservations."`
	Unreserve    unreserveCmd    `cmd:"" quiet:"" group:"jobs" help:"Cancel a reservation and the jobs in it."`

	Data       dataCmd       `cmd:"" quiet:"" group:"grid" help:"Keep data at sites, for requests to use without sending them again."`
	Site       siteCmd       `cmd:"" quiet:"" group:"grid" help:"Show a site: its queue, agreements, reservations and policy."`
	Top        topCmd        `cmd:"" group:"grid" help:"Show the use of a site's nodes, updated continuously."`
	Sites      sitesCmd      `cmd:"" quiet:"" group:"grid" help:"List the sites and their queues."`
	Services   servicesCmd   `cmd:"" quiet:"" group:"grid" help:"List the services of the grid."`
	Moves      movesCmd      `cmd:"" quiet:"" group:"grid" help:"List moves of jobs between sites."`
	Reallocate reallocateCmd `cmd:"" group:"grid" help:"Move waiting jobs to sites where they would finish earlier, or show which would move."`
	Forget     forgetCmd     `cmd:"" quiet:"" group:"grid" help:"Drop a site that does not answer and never comes back."`
	Drain      drainCmd      `cmd:"" quiet:"" group:"grid" help:"Stop a site from accepting jobs, and move its waiting jobs away."`
	Resume     resumeCmd     `cmd:"" quiet:"" group:"grid" help:"Let a drained site accept jobs again."`
	Settle     settleCmd     `cmd:"" quiet:"" group:"grid" help:"Settle a move whose other site is permanently lost."`

	Demo      demoCmd   `cmd:"" group:"roles" help:"Run a grid of three sites on this host and show it at work."`
	AgentCmd  agentCmd  `cmd:"" name:"agent" group:"roles" help:"Run an agent."`
	ServerCmd serverCmd `cmd:"" name:"server" group:"roles" help:"Run the server of a site."`
	NodeCmd   nodeCmd   `cmd:"" name:"node" group:"roles" help:"Run tasks of a site on this host."`
	Sim       simCmd    `cmd:"" group:"what-if" help:"Replay workloads in virtual time."`

	Service   serviceCmd   `cmd:"" hidden:"" help:"Run a bundled service. Servers use this."`
	Supervise superviseCmd `cmd:"" hidden:"" help:"Run the programs of a site. Servers use this."`
	Gate      gateCmd      `cmd:"" hidden:"" help:"Wait to become a program. Supervisors use this."`

	Attempt attemptCmd `cmd:"" hidden:"" help:"Run an attempt of a job. Batch scripts use this."`

	Completion completionCmd `cmd:"" help:"Print the completion script of a shell: drover completion bash|zsh|fish."`
	Complete   completeCmd   `cmd:"" hidden:"" help:"Print completion candidates. Shells use this."`
	VersionCmd versionCmd    `cmd:"" name:"version" help:"Print the version."`
}

// app is the state that all commands share.
type app struct {
	*cmdline.Process
	ctx    context.Context // ends with SIGINT or SIGTERM
	flags  *cli
	client *client.Client // set by grid
}

// grid returns the client of the grid. It creates the client on first use.
func (a *app) grid() (*client.Client, error) {
	if a.client != nil {
		return a.client, nil
	}
	c, err := a.open()
	if err != nil {
		return nil, err
	}
	a.client = c
	return c, nil
}

// open returns a client of the grid with its own connections.
func (a *app) open() (*client.Client, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	var opts []client.Option
	if a.flags.Debug {
		opts = append(opts,
			client.WithLogger(hclog.New(&hclog.LoggerOptions{Name: "drover", Output: a.Stderr, Level: hclog.Debug})))
	}
	c, err := client.New(cfg, opts...)
	if err != nil {
		return nil, &cmdline.UsageError{
			Message: err.Error(), Hint: "see --agent, --patience, DROVER_AGENTS and DROVER_CONFIG",
		}
	}
	return c, nil
}

// config returns the client's configuration: that of the environment, overridden by flags.
func (a *app) config() (client.Config, error) {
	cfg, err := client.Environment(a.Getenv)
	if err != nil {
		return cfg, err
	}
	if len(a.flags.Agent) > 0 {
		cfg.Agents = a.flags.Agent
	}
	cfg.Owner = cmp.Or(cfg.Owner, a.Getenv("USER"))
	if p := a.flags.Patience; p != nil {
		cfg.Patience, cfg.LongPatience = *p, *p
	}
	return cfg, nil
}

// agents returns the URLs of the agents, none if the configuration is wrong.
func (a *app) agents() []string {
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	return cfg.Agents
}

// withLocalHint adds how to start a grid, if none was named and none runs on this host.
func (a *app) withLocalHint(err error) error {
	e, ok := errors.AsType[*problem.Problem](err)
	named := len(a.flags.Agent) > 0 || a.Getenv(client.EnvironmentAgents) != "" ||
		a.Getenv(client.EnvironmentConfig) != ""
	if !ok || named || e.Reason != problem.Unreachable || !strings.Contains(e.Message, client.LocalAgent) {
		return err
	}
	return &noGridError{err: err}
}

// noGridError reports that no grid was named and none runs on this host.
type noGridError struct{ err error }

func (e *noGridError) Error() string { return e.err.Error() }
func (e *noGridError) Unwrap() error { return e.err }

// policyNames returns the variables with which help texts list policies.
func policyNames() kong.Vars {
	list := func(where ...func(*policy.Entry) bool) string { return strings.Join(policy.Names(where...), ", ") }
	return kong.Vars{
		"policies":         list(),
		"queue_policies":   list(func(e *policy.Entry) bool { return e.Queue }),
		"machine_policies": list(func(e *policy.Entry) bool { return e.Machines }),
		"whole_policies":   list(func(e *policy.Entry) bool { return !e.Shares }),
	}
}

// newParser returns the parser of command lines.
func newParser(p *cmdline.Process, flags *cli) (*kong.Kong, error) {
	return cmdline.NewParser(
		p, flags, "drover", "Drover runs requests on the site of a grid that finishes them first.",
		policyNames(),
		kong.ExplicitGroups([]kong.Group{
			{Key: "jobs", Title: "Requests and jobs:"},
			{Key: "grid", Title: "The grid:"},
			{Key: "roles", Title: "Processes of a grid:"},
			{Key: "what-if", Title: "Simulation:"},
		}),
	)
}

// run runs one command line and returns its exit code.
func run(p *cmdline.Process) int {
	var flags cli
	program := cmdline.Program{
		Name:    "drover",
		Parser:  func() (*kong.Kong, error) { return newParser(p, &flags) },
		Version: func() error { return printVersion(p, flags.JSON) },
		Command: func(ctx context.Context, parsed *kong.Context) error { return runCommand(ctx, p, &flags, parsed) },
		Report:  func(err error) int { return report(p, flags.JSON, err) },
	}
	return program.Run(p)
}

func runCommand(ctx context.Context, p *cmdline.Process, flags *cli, parsed *kong.Context) error {
	if flags.Version {
		return printVersion(p, flags.JSON)
	}
	if flags.Quiet {
		if err := checkQuiet(parsed); err != nil {
			return err
		}
	}
	a := &app{Process: p, ctx: ctx, flags: flags}
	err := a.withLocalHint(parsed.Run(a))
	if a.client != nil {
		a.client.Close()
	}
	return err
}

// quietTag marks the commands that can print only IDs. The others refuse --quiet, because
// it would have no effect.
const quietTag = "quiet"

// checkQuiet refuses --quiet where it has no effect.
func checkQuiet(parsed *kong.Context) error {
	node := parsed.Selected()
	for n := node; n != nil; n = n.Parent {
		if n.Tag != nil && n.Tag.Has(quietTag) {
			return nil
		}
	}
	var quiet []string
	for _, child := range parsed.Model.Children {
		if !child.Hidden && child.Tag.Has(quietTag) {
			quiet = append(quiet, child.Name)
		}
	}
	name := ""
	if node != nil {
		name = strings.TrimPrefix(node.Path(), "drover ")
	}
	return &cmdline.UsageError{
		Message: fmt.Sprintf("--quiet with %s, which prints no IDs, accepted: with %s", name,
			strings.Join(quiet, ", ")),
		Hint: "leave it out, or use --json",
	}
}

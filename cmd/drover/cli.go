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
	Agent    []string       `placeholder:"URL" help:"An agent to talk to; repeatable, the next one is tried when one does not answer. Default: DROVER_AGENTS, separated by commas, those of the file DROVER_CONFIG, or a local grid."`
	JSON     bool           `name:"json" xor:"output" help:"Print JSON with a versioned schema."`
	Quiet    bool           `short:"q" xor:"output" help:"Print IDs only (of sites and services their names), and no progress line; refused by commands that print none."`
	Patience *time.Duration `placeholder:"D" help:"How long to try again when nobody answers. Default: 10s, and 5m for wait, logs, --wait, and what call does after submitting."`
	Debug    bool           `help:"Tell on stderr what is tried again, and why."`
	Version  bool           `help:"Print the version."`

	Submit       submitCmd       `cmd:"" quiet:"" group:"jobs" help:"Submit a request and print the job's ID."`
	Call         callCmd         `cmd:"" quiet:"" group:"jobs" help:"Submit, wait, bring the results; exit with the job's status."`
	Estimate     estimateCmd     `cmd:"" group:"jobs" help:"Show when each site would finish a request at each width; submit nothing."`
	Wait         waitCmd         `cmd:"" quiet:"" group:"jobs" help:"Wait for jobs; exit with their status."`
	Job          jobCmd          `cmd:"" quiet:"" group:"jobs" help:"Show jobs."`
	Queue        queueCmd        `cmd:"" quiet:"" group:"jobs" help:"List the jobs that have not ended."`
	Logs         logsCmd         `cmd:"" quiet:"" group:"jobs" help:"Print what jobs write."`
	Cancel       cancelCmd       `cmd:"" quiet:"" group:"jobs" help:"End jobs."`
	Get          getCmd          `cmd:"" quiet:"" group:"jobs" help:"Bring what jobs have written."`
	Why          whyCmd          `cmd:"" group:"jobs" help:"Show why a job is where it is."`
	Move         moveCmd         `cmd:"" quiet:"" group:"jobs" help:"Have a waiting job moved to another site."`
	Reserve      reserveCmd      `cmd:"" quiet:"" group:"jobs" help:"Have processors set aside, and print the reservation's ID."`
	Reservations reservationsCmd `cmd:"" quiet:"" group:"jobs" help:"List reservations."`
	Unreserve    unreserveCmd    `cmd:"" quiet:"" group:"jobs" help:"Give a reservation back, and end the jobs in it."`

	Data       dataCmd       `cmd:"" quiet:"" group:"grid" help:"Have data stay at sites, so that requests use them without their being sent again."`
	Site       siteCmd       `cmd:"" quiet:"" group:"grid" help:"Show a site: its queue, agreements, reservations and policy."`
	Top        topCmd        `cmd:"" group:"grid" help:"Show who has what of a site's nodes, again and again."`
	Sites      sitesCmd      `cmd:"" quiet:"" group:"grid" help:"List the sites and their queues."`
	Services   servicesCmd   `cmd:"" quiet:"" group:"grid" help:"List what the grid can run."`
	Moves      movesCmd      `cmd:"" quiet:"" group:"grid" help:"List moves of jobs between sites."`
	Reallocate reallocateCmd `cmd:"" group:"grid" help:"Move waiting jobs to where they would finish sooner, or show what would be moved."`
	Drain      drainCmd      `cmd:"" quiet:"" group:"grid" help:"Have a site take no new jobs, and those that wait there moved away."`
	Resume     resumeCmd     `cmd:"" quiet:"" group:"grid" help:"Have a site take jobs again."`
	Resolve    resolveCmd    `cmd:"" quiet:"" group:"grid" help:"Declare what became of a move whose other site is lost for ever."`

	Demo      demoCmd   `cmd:"" group:"roles" help:"Run a grid of three sites on this host, and show it at work."`
	AgentCmd  agentCmd  `cmd:"" name:"agent" group:"roles" help:"Run an agent."`
	ServerCmd serverCmd `cmd:"" name:"server" group:"roles" help:"Run the server of a site."`
	NodeCmd   nodeCmd   `cmd:"" name:"node" group:"roles" help:"Run the tasks of a site on this host."`
	Sim       simCmd    `cmd:"" group:"what-if" help:"Replay workloads in virtual time."`

	Service   serviceCmd   `cmd:"" hidden:"" help:"Run a bundled service: servers start these."`
	Supervise superviseCmd `cmd:"" hidden:"" help:"Run the programs of a site: servers start these."`
	Gate      gateCmd      `cmd:"" hidden:"" help:"Wait to become a program: supervisors start these."`

	Attempt attemptCmd `cmd:"" hidden:"" help:"Run an attempt of a job: batch scripts start these."`

	Completion completionCmd `cmd:"" help:"Print what has a shell complete command lines: drover completion bash|zsh|fish."`
	Complete   completeCmd   `cmd:"" hidden:"" help:"Tell what could stand next on a command line: shells ask this."`
	VersionCmd versionCmd    `cmd:"" name:"version" help:"Print the version."`
}

// app is what the commands share.
type app struct {
	*cmdline.Process
	ctx    context.Context // ends with SIGINT or SIGTERM
	flags  *cli
	client *client.Client // opened by grid
}

// grid returns the client of the grid.
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

// open returns a client of the grid with connections of its own.
func (a *app) open() (*client.Client, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	var opts []client.Option
	if a.flags.Debug {
		opts = append(opts, client.WithLogger(hclog.New(&hclog.LoggerOptions{Name: "drover", Output: a.Stderr, Level: hclog.Debug})))
	}
	c, err := client.New(cfg, opts...)
	if err != nil {
		return nil, &cmdline.UsageError{Message: err.Error(), Hint: "see --agent, --patience, DROVER_AGENTS and DROVER_CONFIG"}
	}
	return c, nil
}

// config returns how the grid is reached: as the environment says, but for what flags do.
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

// agents returns the URLs of the agents; none when the configuration is wrong.
func (a *app) agents() []string {
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	return cfg.Agents
}

// localHint tells how to start a grid, when none was named and there is none on this host.
func (a *app) localHint(err error) error {
	e, ok := errors.AsType[*problem.Problem](err)
	named := len(a.flags.Agent) > 0 || a.Getenv(client.EnvironmentAgents) != "" || a.Getenv(client.EnvironmentConfig) != ""
	if !ok || named || e.Reason != problem.Unreachable || !strings.Contains(e.Message, client.LocalAgent) {
		return err
	}
	return &noGridError{err: err}
}

// noGridError says that no grid was named, and none is on this host.
type noGridError struct{ err error }

func (e *noGridError) Error() string { return e.err.Error() }
func (e *noGridError) Unwrap() error { return e.err }

// policyNames are the variables by which help texts list policies.
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
			{Key: "what-if", Title: "Simulation and measurement:"},
		}),
	)
}

// run runs one command line and returns its exit code.
func run(p *cmdline.Process) (code int) {
	out := &cmdline.Output{To: p.Stdout}
	p.Stdout = out
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(cmdline.Exited)
			if !ok {
				panic(v)
			}
			if code = int(e); code == cmdline.ExitOK {
				code = report(p, false, out.Failed())
			}
		}
	}()
	var flags cli
	parser, err := newParser(p, &flags)
	if err != nil {
		return report(p, false, fmt.Errorf("command line: %w", err))
	}
	if len(p.Args) == 1 && p.Args[0] == "--version" { // without a command
		return report(p, false, out.Check(printVersion(p, false)))
	}
	parsed, err := parser.Parse(cmdline.JoinNegative(p.Args))
	if failed := out.Failed(); failed != nil { // of --help
		return report(p, false, failed)
	}
	if err != nil {
		return report(p, flags.JSON, &cmdline.UsageError{Message: err.Error(), Hint: "drover --help, or --help after a command"})
	}
	ctx, stop := p.Signals(context.Background())
	defer stop()
	a := &app{Process: p, ctx: ctx, flags: &flags}
	if flags.Version {
		return report(p, flags.JSON, out.Check(printVersion(p, flags.JSON)))
	}
	if flags.Quiet {
		if err := checkQuiet(parsed); err != nil {
			return report(p, flags.JSON, err)
		}
	}
	err = a.localHint(parsed.Run(a))
	if a.client != nil {
		a.client.Close()
	}
	return report(p, flags.JSON, out.Check(err))
}

// report tells of an error and returns the exit code.
func report(p *cmdline.Process, asJSON bool, err error) int { return reportOf(p, asJSON, err, nil) }

// reportOf is report of one request of many, or of none.
func reportOf(p *cmdline.Process, asJSON bool, err error, of *wish) int {
	if err == nil {
		return cmdline.ExitOK
	}
	code := codeOf(err)
	if errors.Is(err, context.Canceled) && code == cmdline.ExitFailure {
		code = cmdline.ExitInterrupted
	}
	view := errorViewOf(err, code)
	write := cmdline.WriteJSON
	if of != nil {
		view.Line, view.Index, write = of.line, of.index, writeLine
	}
	switch {
	case view.Message == "":
	case asJSON:
		if e := write(p.Stderr, view); e != nil {
			return cmdline.ExitFailure
		}
	default:
		_, _ = fmt.Fprintf(p.Stderr, "drover: %s\n", view.Message)
		if view.Hint != "" {
			_, _ = fmt.Fprintf(p.Stderr, "hint: %s\n", view.Hint)
		}
	}
	return code
}

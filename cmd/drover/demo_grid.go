package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/internal/daemon"
)

// demoSite is a site of the demo: nodes of two processors each.
type demoSite struct {
	name   string
	policy string
	nodes  int
	speed  float64
}

// demoSites differ in width, speed and policy. They have nine times the processors of a
// small host, because most of the demo's jobs sleep.
var demoSites = []demoSite{
	{name: "lyon", policy: "cbf", nodes: 4, speed: 1.0},
	{name: "nancy", policy: "cbf", nodes: 2, speed: 1.5},
	{name: "toulouse", policy: "easy", nodes: 3, speed: 0.8},
}

const (
	demoGrace    = 2 * time.Second  // for a job to end, from SIGTERM to SIGKILL
	demoClearing = 20 * time.Second // to end the programs of a killed site
	demoGoodbye  = 10 * time.Second // for a member to end
	demoRace     = time.Second      // by which a signal to the group can reach a member first
)

type document map[string]any

func demoAgentConfig() document {
	return document{
		"version": 1, "name": "agent", "listen": "127.0.0.1:0",
		"gossip":  document{"bind": "127.0.0.1:0"},
		"network": document{"bandwidth": "125MB/s", "latency": "1ms"},
	}
}

func (s *demoSite) config(dir, seed string) document {
	return document{
		"version": 1, "name": s.name, "listen": "127.0.0.1:0",
		"data_dir": filepath.Join(dir, s.name),
		"gossip":   document{"bind": "127.0.0.1:0", "seeds": []string{seed}},
		"nodes":    []document{{"name": s.name + "-", "count": s.nodes, "processors": 2}},
		"speed":    s.speed, "policy": document{"name": s.policy}, "grace": demoGrace.String(), "on_stop": "end",
		"services": document{"catalogue": demoCatalogue(s.name)},
	}
}

// demoCatalogue returns the file name of a site's services.
func demoCatalogue(site string) string { return site + "-services.yaml" }

// services returns the bundled catalogue with models for the demo. A virtual processor is
// only a part of a real one, so computing takes longer than on an idle host. Walltimes are
// as tight as a host with this slowness allows.
func (s *demoSite) services(slow float64) (document, error) {
	margin := func(d time.Duration) string { return time.Duration(float64(d) * slow).Round(time.Millisecond).String() }
	models := map[string]document{
		// Sleeping is no shorter on a faster processor.
		"sleep": {
			"walltime": document{"factor": 1, "margin": margin(1500 * time.Millisecond)},
			"model": document{"fixed": document{"width": "processors", "time": fmt.Sprintf("(seconds + 0.05) * %g",
				s.speed)}},
		},
		"lu": {
			"walltime": document{"factor": 1, "margin": margin(3 * time.Second)},
			"model": document{"amdahl": document{"work": fmt.Sprintf("%g * (0.1 + repeat * 3e-10 * order ** 3)",
				slow), "parallel": 0.9, "limit": 8}},
		},
		"mandelbrot": {
			"walltime": document{"factor": 1, "margin": margin(3 * time.Second)},
			"model": document{
				"amdahl": document{
					"work": fmt.Sprintf("%g * (0.1 + 2e-9 * columns * rows * iterations)", slow), "parallel": 0.98,
					"limit": 8,
				},
			},
		},
	}
	return bundledWith(models)
}

// bundledWith returns the bundled catalogue with changed keys of some services.
func bundledWith(changed map[string]document) (document, error) {
	var all document
	if err := yaml.Unmarshal(bundledYAML, &all); err != nil {
		return nil, fmt.Errorf("bundled services: %w", err)
	}
	list, _ := all["services"].([]any)
	for _, item := range list {
		service, _ := item.(document)
		name, _ := service["name"].(string)
		for key, value := range changed[name] {
			service[key] = value
		}
	}
	return all, nil
}

// demoSetup is the configuration of a site.
type demoSetup struct {
	name             string
	config, services document
}

// demoPlan measures the host while only the agent runs, and returns the sites to start.
// Their files are in dir, and the agent's gossip address is seed.
type demoPlan func(ctx context.Context, program, dir, seed string) ([]demoSetup, error)

// threeSites is the plan of the demo without --policy. It stores the slowness of the host.
func threeSites(slow *float64) demoPlan {
	return func(ctx context.Context, program, dir, seed string) (servers []demoSetup, err error) {
		if *slow, err = probeHost(ctx, program, dir); err != nil {
			return nil, err
		}
		for i := range demoSites {
			s := &demoSites[i]
			services, err := s.services(*slow)
			if err != nil {
				return nil, err
			}
			servers = append(servers, demoSetup{s.name, s.config(dir, seed), services})
		}
		return servers, nil
	}
}

// demoGrid is the agent and the sites, as processes.
type demoGrid struct {
	dir     string // of their configurations and data
	sites   []string
	end     context.CancelFunc
	agent   *daemon.Process
	members []*daemon.Process
}

// startDemoGrid starts the members and returns when all of them are up. A member that ends
// before stop is called cancels ctx with the reason.
func startDemoGrid(ctx context.Context, cancel context.CancelCauseFunc, plan demoPlan) (_ *demoGrid, err error) {
	dir, err := os.MkdirTemp("", "drover-demo-")
	if err != nil {
		return nil, err
	}
	// The members outlive ctx: stop ends them.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	g := &demoGrid{dir: dir, end: end}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.stop())
		}
	}()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if g.agent, err = g.start(life, program, "agent", "agent", demoAgentConfig()); err != nil {
		return nil, err
	}
	if err := g.agent.Wait(ctx, demoUp); err != nil {
		return nil, err
	}
	servers, err := plan(ctx, program, dir, g.agent.Gossip)
	if err != nil {
		return nil, err
	}
	for i := range servers {
		s := &servers[i]
		g.sites = append(g.sites, s.name)
		if err := writeYAML(filepath.Join(dir, demoCatalogue(s.name)), s.services); err != nil {
			return nil, err
		}
		if _, err := g.start(life, program, "server", s.name, s.config); err != nil {
			return nil, err
		}
	}
	for _, m := range g.members {
		if err := m.Wait(ctx, demoUp); err != nil {
			return nil, err
		}
		go func() {
			select {
			case <-m.Ended:
			case <-life.Done():
				return
			}
			select {
			case <-ctx.Done(): // that is the reason
			case <-life.Done():
			case <-time.After(demoRace):
				cancel(m.Err())
			}
		}()
	}
	return g, nil
}

// stop ends the members, waits for them, and removes their files.
func (g *demoGrid) stop() error {
	g.end()
	var errs []error
	for _, m := range g.members {
		<-m.Ended
		if !m.Succeeded() {
			errs = append(errs, m.Err())
		}
	}
	// A killed server leaves its jobs to a supervisor.
	ctx, cancel := context.WithTimeout(context.Background(), demoClearing)
	defer cancel()
	for _, name := range g.sites {
		errs = append(errs, supervisor.Dismiss(ctx, filepath.Join(g.dir, name), true))
	}
	return errors.Join(append(errs, os.RemoveAll(g.dir))...)
}

// start starts one member.
func (g *demoGrid) start(life context.Context, program, role, name string, config document) (*daemon.Process, error) {
	path := filepath.Join(g.dir, name+".yaml")
	if err := writeYAML(path, config); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(life, program, "--json", "demo", "--member", role, "--config", path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel, cmd.WaitDelay = stdin.Close, demoGoodbye
	m, err := daemon.Start(name, cmd)
	if err != nil {
		return nil, err
	}
	g.members = append(g.members, m)
	return m, nil
}

func writeYAML(path string, d document) error {
	data, err := yaml.Marshal(d)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// member runs one member until standard input closes or a signal arrives.
func (c *demoCmd) member(a *app) error {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, a.Stdin)
		cancel()
	}()
	a.ctx = ctx
	r := roleFlags{Config: c.Config, LogLevel: "warn"}
	if c.Member == "agent" {
		return (&agentCmd{r}).Run(a)
	}
	return (&serverCmd{r}).Run(a)
}

const (
	probes     = 2
	probeUsual = 60 * time.Millisecond // of a probe on an idle current processor
	probeNoise = 2.0                   // a probe below this multiple is normal
	mostSlow   = 20.0
)

// probeHost returns how many times slower than usual this host starts a service and
// computes, at least 1. The demo's walltimes are longer by this factor, so that no job is
// killed on an old or busy host.
func probeHost(ctx context.Context, program, dir string) (float64, error) {
	var longest time.Duration
	for range probes {
		began := time.Now()
		out, err := exec.CommandContext(ctx, program, "service", "mandelbrot",
			"--width=240", "--height=160", "--output="+filepath.Join(dir, "probe.png")).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("a service does not run on this host: %w: %s", err, out)
		}
		longest = max(longest, time.Since(began))
	}
	return slowness(longest), nil
}

func slowness(probe time.Duration) float64 {
	s := float64(probe) / float64(probeUsual)
	if s < probeNoise {
		return 1
	}
	return min(s, mostSlow)
}

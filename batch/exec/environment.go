package exec

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// environment is what programs get of the server's own variables.
type environment map[string]string

func serverEnvironment(lookup func(string) (string, bool)) environment {
	env := make(environment)
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := lookup(name); ok {
			env[name] = value
		}
	}
	return env
}

func nodeNames(p batch.Platform) []string {
	names := make([]string, len(p.Nodes))
	for i := range p.Nodes {
		names[i] = p.Nodes[i].Name
		if names[i] == "" {
			names[i] = "n" + strconv.Itoa(i+1)
		}
	}
	return names
}

// nodesOf names the nodes of allocation, each once, in order.
func (s *System) nodesOf(allocation []batch.NodeAllocation) []string {
	if len(allocation) == 0 {
		return nil
	}
	names := make([]string, 0, len(allocation))
	for i := range allocation {
		if name := s.names[allocation[i].Node]; i == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// spec makes what is launched of an attempt that has its allocation.
func (s *System) spec(l *launchSpec, p *batch.Program) Spec {
	dir := p.Dir
	if s.dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, dir)
	}
	in := func(file string) string {
		if file == "" || filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(dir, file)
	}
	return Spec{
		Key: l.key, Shape: l.shape, Allocation: l.allocation, Launch: p.Launch, Memory: l.memory, Groups: l.groups,
		Args: p.Args, Env: s.variables(l, p.Env),
		Dir: dir, Stdout: in(p.Stdout), Stderr: in(p.Stderr), Append: p.Append,
	}
}

// variables returns the whole environment of an attempt. A program may set its
// own thread counts, but not what Drover says about the job.
func (s *System) variables(l *launchSpec, own environment) []string {
	width := strconv.Itoa(int(l.shape.Width))
	env := environment{"OMP_NUM_THREADS": width, "GOMAXPROCS": width}
	for _, more := range []environment{s.env, own, {
		"DROVER_JOB_ID":     string(l.key.Job),
		"DROVER_WIDTH":      width,
		"DROVER_WALLTIME":   strconv.FormatInt(int64(l.shape.Walltime.CeilSeconds()/batch.Second), 10),
		"DROVER_NODES":      s.nodeList(l.allocation),
		"DROVER_PROCESSORS": strconv.Itoa(int(tasks(l.allocation))),
	}} {
		for name, value := range more {
			env[name] = value
		}
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// nodeList writes allocation as name:count,name:count.
func (s *System) nodeList(allocation []batch.NodeAllocation) string {
	var b strings.Builder
	for i := 0; i < len(allocation); {
		node, n := allocation[i].Node, int32(0)
		for ; i < len(allocation) && allocation[i].Node == node; i++ {
			n += allocation[i].Processors
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.names[node] + ":" + strconv.Itoa(int(n)))
	}
	return b.String()
}

func tasks(allocation []batch.NodeAllocation) int32 {
	var n int32
	for i := range allocation {
		n += allocation[i].Processors
	}
	return n
}

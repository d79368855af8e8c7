package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type topCmd struct {
	Site  string        `arg:"" complete:"site" help:"Name of the site."`
	Once  bool          `help:"Print it once, and end."`
	Every time.Duration `default:"1s" placeholder:"D" help:"Time between two looks, 100ms to 1h; default: 1s."`
}

func (c *topCmd) Run(a *app) error {
	if c.Every < 100*time.Millisecond || c.Every > time.Hour {
		return &cmdline.UsageError{Message: fmt.Sprintf("--every %v, accepted: 100ms..1h", c.Every)}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	live := a.Terminal && !c.Once
	err = grid.WatchSite(a.ctx, c.Site, c.Every, func(u *client.SiteUse) (bool, error) {
		if a.flags.JSON {
			return c.Once, json.NewEncoder(a.Stdout).Encode(topViewOf(c.Site, u))
		}
		var text bytes.Buffer
		if live {
			text.WriteString("\x1b[H\x1b[2J") // top left, all clear
		}
		topTable(&text, c.Site, u)
		if !live && !c.Once {
			text.WriteString("\n")
		}
		_, err := a.Stdout.Write(text.Bytes())
		return c.Once, err
	})
	if a.ctx.Err() != nil && !c.Once {
		return nil // whoever looks has seen enough
	}
	return err
}

// topTable writes who has what.
func topTable(w io.Writer, site string, u *client.SiteUse) {
	paused := 0
	for i := range u.Jobs {
		if u.Jobs[i].Paused {
			paused++
		}
	}
	_, _ = fmt.Fprintf(w, "%s at %s: %s, %d paused, %d waiting\n", site, u.At.Local().Format(time.TimeOnly), plural(len(u.Jobs), "job"), paused, u.Waiting)
	if ways := waysOf(u.Capabilities); len(ways) > 0 {
		_, _ = fmt.Fprintf(w, "held by %s\n", strings.Join(ways, " "))
	}
	_, _ = fmt.Fprintln(w)
	header := table.Row{"node", "processors", "given", "tasks", "memory"}
	away := slices.ContainsFunc(u.Nodes, func(n client.NodeUse) bool { return n.Away })
	if away {
		header = append(header, "")
	}
	nodes := cmdline.NewTable(w, header, "processors", "given", "tasks", "memory")
	for _, n := range u.Nodes {
		row := table.Row{n.Name, n.Processors, fmt.Sprintf("%.2f", n.Given), n.Tasks, mebibytes(n.Memory)}
		switch {
		case n.Away:
			row = append(row, "not there: "+cmdline.Printable(n.AwayReason))
		case away:
			row = append(row, "")
		}
		nodes.AppendRow(row)
	}
	nodes.Render()
	if len(u.Jobs) == 0 {
		return
	}
	_, _ = fmt.Fprintln(w)
	jobs := cmdline.NewTable(w, table.Row{"job", "service", "nodes", "tasks", "share", "yield", "declared", "need", "uses", "memory", "declared", "most", ""}, "tasks", "share", "yield", "declared", "need", "uses", "memory", "declared", "most")
	for i := range u.Jobs {
		j := &u.Jobs[i]
		row := table.Row{j.ID, j.Service, strings.Join(j.Nodes, ","), j.Tasks, fmt.Sprintf("%.3f", j.Share), fmt.Sprintf("%.3f", j.Yield), fmt.Sprintf("%.2f", j.Declared), "-", "-", mebibytes(j.Memory), mebibytes(j.DeclaredMemory), mebibytes(j.MostMemory), ""}
		if j.Need > 0 {
			row[7], row[8] = fmt.Sprintf("%.2f", j.Need), fmt.Sprintf("%.3f", j.Used)
		}
		if j.Paused {
			row[len(row)-1] = "paused"
		}
		jobs.AppendRow(row)
	}
	jobs.Render()
}

// waysOf returns the capabilities that say what holds jobs to what they get.
func waysOf(capabilities []string) (ways []string) {
	for _, c := range capabilities {
		if strings.Contains(c, "=") {
			ways = append(ways, c)
		}
	}
	return ways
}

// mebibytes returns an amount of memory for people, "-" where it is not known.
func mebibytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fMiB", float64(n)/(1<<20))
}

type topView struct {
	Schema       string        `json:"schema"`
	Site         string        `json:"site"`
	At           time.Time     `json:"at"`
	Waiting      int           `json:"waiting"`
	Capabilities []string      `json:"capabilities"`
	Nodes        []topNodeView `json:"nodes"`
	Jobs         []topJobView  `json:"jobs"`
}

type topNodeView struct {
	Name       string  `json:"name"`
	Processors int     `json:"processors"`
	Given      float64 `json:"given"`
	Memory     int64   `json:"memory_bytes"`
	Tasks      int     `json:"tasks"`
	Away       bool    `json:"away"` // nothing can begin there
	AwayReason string  `json:"away_reason,omitempty"`
}

type topJobView struct {
	ID       string   `json:"id"`
	Service  string   `json:"service"`
	Owner    string   `json:"owner"`
	Paused   bool     `json:"paused"`
	Nodes    []string `json:"nodes"`
	Tasks    int      `json:"tasks"`
	Share    float64  `json:"share"`
	Yield    float64  `json:"yield"`
	Declared float64  `json:"declared_cpu"`
	Need     float64  `json:"need_cpu"`
	Used     float64  `json:"used_cpu"`
	Memory   int64    `json:"used_memory_bytes"`

	CPUTime  float64   `json:"used_cpu_time"` // seconds, by its attempt until then
	Measured time.Time `json:"measured_at,omitzero"`

	DeclaredMemory int64 `json:"declared_memory_bytes"`
	MostMemory     int64 `json:"measured_memory_bytes"`
}

func topViewOf(site string, u *client.SiteUse) topView {
	v := topView{Schema: "drover.top/1", Site: site, At: u.At, Waiting: u.Waiting, Capabilities: u.Capabilities, Nodes: []topNodeView{}, Jobs: []topJobView{}}
	for _, n := range u.Nodes {
		v.Nodes = append(v.Nodes, topNodeView(n))
	}
	for _, j := range u.Jobs {
		v.Jobs = append(v.Jobs, topJobView{
			ID: j.ID, Service: j.Service, Owner: j.Owner, Paused: j.Paused, Nodes: j.Nodes, Tasks: j.Tasks,
			Share: j.Share, Yield: j.Yield, Declared: j.Declared, Need: j.Need, Used: j.Used, Memory: j.Memory,
			CPUTime: j.CPUTime.Seconds(), Measured: j.Measured,
			DeclaredMemory: j.DeclaredMemory, MostMemory: j.MostMemory,
		})
	}
	return v
}

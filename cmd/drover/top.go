package main

import (
	"bytes"
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
	Once  bool          `help:"Print once and exit."`
	Every time.Duration `default:"1s" placeholder:"D" help:"Interval, 100ms to 1h; default: 1s."`
}

func (c *topCmd) Run(a *app) error {
	if c.Every < 100*time.Millisecond || c.Every > time.Hour { // servers round it to this range
		return &cmdline.UsageError{Message: fmt.Sprintf("--every %v, accepted: 100ms..1h", c.Every)}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	live := a.Terminal && !c.Once
	err = grid.WatchSite(a.ctx, c.Site, c.Every, func(u *client.SiteUse) (bool, error) {
		if a.flags.JSON {
			return c.Once, writeLine(a.Stdout, u)
		}
		var text bytes.Buffer
		if live {
			text.WriteString("\x1b[H\x1b[2J") // cursor home, clear the screen
		}
		writeSiteUse(&text, c.Site, u)
		if !live && !c.Once {
			text.WriteString("\n")
		}
		_, err := a.Stdout.Write(text.Bytes())
		return c.Once, err
	})
	if a.ctx.Err() != nil && !c.Once {
		return nil // Ctrl-C is the normal end
	}
	return err
}

// writeSiteUse writes the use of a site's nodes and the shares of its jobs.
func writeSiteUse(w io.Writer, site string, u *client.SiteUse) {
	paused := 0
	for i := range u.Jobs {
		if u.Jobs[i].Paused {
			paused++
		}
	}
	_, _ = fmt.Fprintf(w, "%s at %s: %s, %d paused, %d waiting\n",
		site, u.At.Local().Format(time.TimeOnly), plural(len(u.Jobs), "job"), paused, u.Waiting)
	if e := enforcement(u.Capabilities); len(e) > 0 {
		_, _ = fmt.Fprintf(w, "enforced by %s\n", strings.Join(e, " "))
	}
	_, _ = fmt.Fprintln(w)
	nodeTable(w, u.Nodes)
	if len(u.Jobs) > 0 {
		_, _ = fmt.Fprintln(w)
		shareTable(w, u.Jobs)
	}
}

func nodeTable(w io.Writer, list []client.NodeUse) {
	header := table.Row{"node", "processors", "allocated", "tasks", "memory"}
	away := slices.ContainsFunc(list, func(n client.NodeUse) bool { return n.Away })
	if away {
		header = append(header, "")
	}
	t := cmdline.NewTable(w, header, "processors", "allocated", "tasks", "memory")
	for _, n := range list {
		row := table.Row{n.Name, n.Processors, fmt.Sprintf("%.2f", n.Given), n.Tasks, mebibytes(n.Memory)}
		switch {
		case n.Away:
			row = append(row, "away: "+n.AwayReason)
		case away:
			row = append(row, "")
		}
		t.AppendRow(row)
	}
	t.Render()
}

func shareTable(w io.Writer, list []client.JobUse) {
	t := cmdline.NewTable(w,
		table.Row{
			"job", "service", "nodes", "tasks", "share", "yield", "declared", "need", "uses", "memory", "declared",
			"peak", "",
		},
		"tasks", "share", "yield", "declared", "need", "uses", "memory", "declared", "peak")
	t.ShortIDs()
	t.Optional("peak", "declared", "need", "memory", "tasks", "service")
	for i := range list {
		j := &list[i]
		need, uses, state := "-", "-", ""
		if j.Need > 0 {
			need, uses = fmt.Sprintf("%.2f", j.Need), fmt.Sprintf("%.3f", j.Used)
		}
		if j.Paused {
			state = "paused"
		}
		t.AppendRow(table.Row{
			j.ID, j.Service, strings.Join(j.Nodes, ","), j.Tasks, fmt.Sprintf("%.3f", j.Share),
			fmt.Sprintf("%.3f", j.Yield), fmt.Sprintf("%.2f", j.Declared), need, uses, mebibytes(j.Memory),
			mebibytes(j.DeclaredMemory), mebibytes(j.MostMemory), state,
		})
	}
	t.Render()
}

// enforcement returns the capabilities that say how shares are enforced: shares=v2, ...
func enforcement(capabilities []string) (found []string) {
	for _, c := range capabilities {
		if strings.Contains(c, "=") {
			found = append(found, c)
		}
	}
	return found
}

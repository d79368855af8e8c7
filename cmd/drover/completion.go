package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// A shell asks `drover complete` what could stand next. What to say is found in the
// parser's own model of the command line; a `complete` tag says of which kind a value is,
// and the grid is asked for the names of services, sites and jobs.

//go:embed completion
var completionScripts embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

func (c *completionCmd) Run(a *app) error {
	script, err := completionScripts.ReadFile("completion/drover." + c.Shell)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(script)
	return err
}

const (
	// completionPatience is how long the grid may take to answer somebody who types.
	completionPatience = time.Second
	// mostCompleted bounds the jobs that are offered: the latest.
	mostCompleted = 50
)

type completeCmd struct {
	Line  *string  `help:"The command line up to the cursor, in place of words."`
	Words []string `arg:"" optional:"" help:"The words behind the program's name; the last one is being typed."`
}

func (c *completeCmd) Run(a *app) error {
	words := c.Words
	if c.Line != nil {
		words = splitLine(*c.Line)[1:] // the program goes before
	}
	if len(words) == 0 {
		words = []string{""}
	}
	parser, err := newParser(&process{stdout: io.Discard, stderr: io.Discard}, &cli{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, completionPatience)
	defer cancel()
	for _, candidate := range completions(parser.Model.Node, words, func(at *cursor) []candidate { return a.names(ctx, at) }) {
		text := candidate.text
		if c.Line != nil { // to bash the part behind = is a word
			current := words[len(words)-1]
			text = strings.TrimPrefix(text, current[:strings.LastIndex(current, "=")+1])
		}
		if _, err := fmt.Fprintf(a.stdout, "%s\t%s\n", text, oneLine.Replace(candidate.help)); err != nil {
			return err
		}
	}
	return nil
}

// names asks the grid for names of a kind. When it does not answer in time there are
// none.
func (a *app) names(ctx context.Context, at *cursor) []candidate {
	if len(at.agents) > 0 {
		a.flags.Agent = at.agents
	}
	a.flags.Patience = new(time.Duration)
	grid, err := a.grid()
	if err != nil {
		return nil
	}
	var list []candidate
	switch at.kind {
	case "service":
		services, _ := grid.Services(ctx)
		for _, s := range services {
			list = append(list, candidate{s.Name, s.Doc})
		}
	case "site":
		sites, _ := grid.Sites(ctx)
		for i := range sites {
			list = append(list, candidate{sites[i].Name, sites[i].Policy})
		}
	case "argument":
		list = argumentNames(ctx, grid, at)
	case "data":
		list = dataNames(ctx, grid)
	case "job", "jobs", "active":
		list = jobNames(ctx, grid, at.kind)
	}
	return list
}

// argumentNames are the arguments of the service on the line that are not given yet, or
// the values that one of them can have.
func argumentNames(ctx context.Context, grid *client.Client, at *cursor) []candidate {
	if len(at.values) == 0 {
		return nil
	}
	about, err := grid.Service(ctx, at.values[0])
	if err != nil {
		return nil
	}
	if name, _, typing := strings.Cut(at.current, "="); typing {
		var list []candidate
		arg := about.Argument(name)
		if arg == nil {
			return nil
		}
		choices := arg.Choices
		if arg.Type == client.TypeBool {
			choices = []string{"true", "false"}
		}
		if arg.Type.Sent() && strings.HasPrefix(at.current, name+"=data:") {
			for _, d := range dataNames(ctx, grid) {
				list = append(list, candidate{name + "=data:" + d.text, d.help})
			}
		}
		for _, v := range choices {
			list = append(list, candidate{name + "=" + v, arg.Doc})
		}
		return list
	}
	var list []candidate
	for i := range about.Arguments {
		arg := &about.Arguments[i]
		given := slices.ContainsFunc(at.values[1:], func(v string) bool { return strings.HasPrefix(v, arg.Name+"=") })
		if !given {
			list = append(list, candidate{arg.Name + "=", strings.TrimSpace(string(arg.Type) + " " + arg.Doc)})
		}
	}
	return list
}

// jobNames are the latest jobs, and the words that stand for some.
func jobNames(ctx context.Context, grid *client.Client, kind string) []candidate {
	list := []candidate{{"last", "the job that was submitted last"}}
	if kind != "job" {
		list = append(list, candidate{"all", "your own that have not ended"})
	}
	f := client.JobFilter{}
	if kind == "active" {
		f.State = "active"
	}
	found, err := grid.Jobs(ctx, f)
	if err != nil {
		return list
	}
	jobs := newIndex(found.Jobs)
	slices.Reverse(jobs)
	for _, j := range jobs[:min(len(jobs), mostCompleted)] {
		list = append(list, candidate{j.ID, fmt.Sprintf("%s at %s, %s", j.Service, j.Site, j.State)})
	}
	return list
}

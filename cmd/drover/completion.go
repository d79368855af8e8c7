package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
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
	_, err = a.Stdout.Write(script)
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
	parser, err := newParser(&cmdline.Process{Stdout: io.Discard, Stderr: io.Discard}, &cli{})
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
		if _, err := fmt.Fprintf(a.Stdout, "%s\t%s\n", text, oneLine.Replace(candidate.help)); err != nil {
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

// candidate is what could stand on a command line, and what it means.
type candidate struct{ text, help string }

// cursor is where on a command line somebody is typing.
type cursor struct {
	node    *kong.Node
	flag    *kong.Flag // whose value is typed; nil: none
	values  []string   // positional arguments before
	dashes  bool       // after --
	agents  []string   // of --agent
	current string     // what is typed of the word
	prefix  string     // of a value that is typed as --flag=value: --flag=
	kind    string     // of the value, as its tag says
}

// completions returns what could stand at the end of these words, the last of which is
// being typed; without any, of a first one. names asks for names of a kind.
func completions(root *kong.Node, words []string, names func(*cursor) []candidate) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	at := walk(root, words[:len(words)-1])
	at.current = words[len(words)-1]
	if name, value, ok := strings.Cut(at.current, "="); ok && at.flag == nil && !at.dashes && strings.HasPrefix(name, "--") {
		if at.flag = at.flagOf(name); at.flag == nil {
			return nil
		}
		at.prefix, at.current = name+"=", value
	}
	var list []candidate
	switch {
	case at.flag != nil:
		list = at.valuesOf(at.flag.Value, names)
	case strings.HasPrefix(at.current, "-") && !at.dashes:
		list = at.flags()
	default:
		if len(at.values) == 0 {
			for _, child := range at.node.Children {
				if !child.Hidden {
					list = append(list, candidate{child.Name, child.Help})
				}
			}
		}
		if p := at.positional(); p != nil {
			list = append(list, at.valuesOf(p, names)...)
		}
	}
	list = slices.DeleteFunc(list, func(c candidate) bool { return !strings.HasPrefix(c.text, at.current) })
	for i := range list {
		list[i].text = at.prefix + list[i].text
	}
	return list
}

// walk goes over the words before the one that is typed.
func walk(root *kong.Node, words []string) *cursor {
	at := &cursor{node: root}
	for _, w := range words {
		switch {
		case at.flag != nil:
			if at.flag.Name == "agent" {
				at.agents = append(at.agents, w)
			}
			at.flag = nil
		case at.dashes:
			at.values = append(at.values, w)
		case w == "--":
			at.dashes = true
		case strings.HasPrefix(w, "-") && len(w) > 1:
			name, value, given := strings.Cut(w, "=")
			f := at.flagOf(name)
			switch {
			case f == nil || f.IsBool() || f.IsCounter():
			case !given:
				at.flag = f
			case f.Name == "agent":
				at.agents = append(at.agents, value)
			}
		default:
			child := slices.IndexFunc(at.node.Children, func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) })
			if child >= 0 && len(at.values) == 0 {
				at.node = at.node.Children[child]
			} else {
				at.values = append(at.values, w)
			}
		}
	}
	return at
}

// flagOf returns the flag that is written like this, --name or -n; nil for none.
func (at *cursor) flagOf(word string) *kong.Flag {
	for _, group := range at.node.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// flags returns the flags that are accepted here, those of the command first.
func (at *cursor) flags() []candidate {
	groups := at.node.AllFlags(true)
	slices.Reverse(groups)
	var list []candidate
	for _, group := range groups {
		for _, f := range group {
			list = append(list, candidate{"--" + f.Name, f.Help})
		}
	}
	return list
}

// positional returns the argument that is typed, nil when there is none to come.
func (at *cursor) positional() *kong.Positional {
	n := len(at.node.Positional)
	switch i := len(at.values); {
	case i < n:
		return at.node.Positional[i]
	case n > 0 && at.node.Positional[n-1].IsCumulative():
		return at.node.Positional[n-1]
	}
	return nil
}

// jobStates are what jobs are listed by.
var jobStates = []string{
	"active", "waiting", "starting", "running", "done", "failed", "killed", "cancelling", "cancelled", "held", "moving", "yielding", "gone", "incoming",
}

// valuesOf returns the values that a flag or argument could have.
func (at *cursor) valuesOf(v *kong.Value, names func(*cursor) []candidate) []candidate {
	choices := v.EnumSlice()
	at.kind = v.Tag.Get("complete")
	var list []candidate
	switch at.kind {
	case "state":
		choices = jobStates
	case "policy":
		for _, e := range policy.All() {
			list = append(list, candidate{e.Name, e.Summary})
		}
	}
	for _, c := range choices {
		if c = strings.TrimSpace(c); c != "" {
			list = append(list, candidate{c, v.Help})
		}
	}
	if len(list) == 0 && at.kind != "" {
		list = names(at)
	}
	return list
}

// splitLine splits a line as a shell would, as far as quotes go. There is always a last
// word: what is being typed, which may be empty.
func splitLine(line string) []string {
	var (
		words []string
		word  strings.Builder
		quote rune
		begun bool
		bare  bool // the rune after a backslash
	)
	for _, c := range line {
		switch {
		case bare:
			word.WriteRune(c)
			bare = false
		case c == '\\' && quote != '\'':
			begun, bare = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '"' || c == '\'':
			begun, quote = true, c
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	return append(words, word.String())
}

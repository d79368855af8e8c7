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

// Shells call `drover complete` to complete a command line. The candidates come from the
// parser's model of the command line. A `complete` tag names the kind of a value: then the
// grid provides the names of services, sites, jobs or data.

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
	// completionPatience bounds how long a user has to wait for the grid.
	completionPatience = time.Second
	// maxCompleted bounds how many jobs or data are offered: the latest ones.
	maxCompleted = 50
)

type completeCmd struct {
	Line  *string  `help:"The command line up to the cursor, instead of words."`
	Words []string `arg:"" optional:"" help:"The words after the program's name; the last one is incomplete."`
}

func (c *completeCmd) Run(a *app) error {
	words := c.Words
	if c.Line != nil {
		words = splitLine(*c.Line)[1:] // without the program
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
	for _, candidate := range completions(parser.Model.Node, words, func(at *cursor) []candidate {
		return a.names(ctx, at)
	}) {
		text := candidate.text
		if c.Line != nil { // bash splits words at =
			current := words[len(words)-1]
			text = strings.TrimPrefix(text, current[:strings.LastIndex(current, "=")+1])
		}
		if _, err := fmt.Fprintf(a.Stdout, "%s\t%s\n", text, joinLines.Replace(candidate.help)); err != nil {
			return err
		}
	}
	return nil
}

// names asks the grid for names of the cursor's kind. It returns none if the grid does not
// answer in time.
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
		list = dataCandidates(ctx, grid)
	case "job", "jobs", "active":
		list = jobNames(ctx, grid, at.kind)
	}
	return list
}

// argumentNames returns the arguments of the service that are not on the line yet, or the
// values of the argument that is being typed.
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
			for _, d := range dataCandidates(ctx, grid) {
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

// jobNames returns the latest jobs, and the words that select jobs.
func jobNames(ctx context.Context, grid *client.Client, kind string) []candidate {
	list := []candidate{{"last", "the job submitted last"}}
	if kind != "job" {
		list = append(list, candidate{"all", "your own active jobs"})
	}
	f := client.JobFilter{Brief: true}
	if kind == "active" {
		f.State = "active"
	}
	found, err := grid.Jobs(ctx, f)
	if err != nil {
		return list
	}
	jobs := newIndex(found.Jobs)
	slices.Reverse(jobs)
	for _, j := range jobs[:min(len(jobs), maxCompleted)] {
		list = append(list, candidate{j.ID, fmt.Sprintf("%s at %s, %s", j.Service, j.Site, j.State)})
	}
	return list
}

// candidate is a possible word of a command line, with its help.
type candidate struct{ text, help string }

// cursor is the position on a command line at which the user types.
type cursor struct {
	node    *kong.Node // the command
	flag    *kong.Flag // the flag before, if it still needs a value
	values  []string   // positional arguments before
	dashes  bool       // after --
	agents  []string   // values of --agent
	current string     // the incomplete word
	prefix  string     // "--flag=" in front of an incomplete value
	kind    string     // of the value, from its complete tag
}

// completions returns the candidates for the last of these words, which is incomplete.
// names returns the names of the cursor's kind.
func completions(root *kong.Node, words []string, names func(*cursor) []candidate) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	at := walk(root, words[:len(words)-1])
	at.current = words[len(words)-1]
	if name, value, ok := strings.Cut(at.current, "="); ok && at.flag == nil && !at.dashes &&
		strings.HasPrefix(name, "--") {
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

// walk returns the cursor after these complete words.
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
			child := slices.IndexFunc(at.node.Children, func(n *kong.Node) bool {
				return n.Name == w || slices.Contains(n.Aliases, w)
			})
			if child >= 0 && len(at.values) == 0 {
				at.node = at.node.Children[child]
			} else {
				at.values = append(at.values, w)
			}
		}
	}
	return at
}

// flagOf returns the flag written --name or -n, nil if there is none.
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

// positional returns the positional argument at the cursor, nil if there is none left.
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

// jobStates are the values of queue --state.
var jobStates = []string{
	"active", "waiting", "starting", "running", "done", "failed", "killed", "cancelling", "cancelled", "held", "moving",
	"yielding", "gone", "incoming",
}

// valuesOf returns the possible values of a flag or argument.
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

// splitLine splits a line into words as a shell would, with quotes and backslashes only.
// The last word is the incomplete one and can be empty.
func splitLine(line string) []string {
	var (
		words   []string
		word    strings.Builder
		quote   rune
		inWord  bool
		escaped bool // the rune after a backslash
	)
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '"' || c == '\'':
			inWord, quote = true, c
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(c)
		}
	}
	return append(words, word.String())
}

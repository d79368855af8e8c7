package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

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
	if at.kind == "state" {
		choices = jobStates
	}
	var list []candidate
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

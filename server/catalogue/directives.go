package catalogue

import (
	"fmt"
	"strings"
)

// ruling is what becomes of an option that a batch script asks for.
type ruling struct {
	why     string // it is left out, and this is told; "": it is kept
	note    string // it is kept, and this is told
	refused string // the service is none, for this reason
	flag    bool   // it has no value, or only one behind an equals sign
}

const (
	widthWins    = "the width that Drover chooses wins"
	walltimeWins = "the walltime that Drover chooses wins"
	ours         = "this is Drover's to say"
	siteWins     = "the site's configuration says that"
)

// rulings are about sbatch's options by their long names. Those that are not here
// are kept, with a value.
var rulings = map[string]ruling{
	"ntasks": {why: widthWins}, "nodes": {why: widthWins}, "cpus-per-task": {why: widthWins}, "ntasks-per-node": {why: widthWins},
	"ntasks-per-core": {why: widthWins}, "ntasks-per-socket": {why: widthWins}, "ntasks-per-gpu": {why: widthWins}, "mincpus": {why: widthWins},
	"time": {why: walltimeWins}, "time-min": {why: walltimeWins}, "deadline": {why: walltimeWins},

	"job-name": {why: ours}, "comment": {why: ours}, "output": {why: ours}, "error": {why: ours}, "open-mode": {why: ours},
	"chdir": {why: ours}, "input": {why: ours}, "begin": {why: ours}, "dependency": {why: ours}, "delay-boot": {why: ours},
	"hold": {why: ours, flag: true}, "requeue": {why: ours, flag: true}, "no-requeue": {why: ours, flag: true},
	"wait": {why: ours, flag: true}, "parsable": {why: ours, flag: true}, "test-only": {why: ours, flag: true},
	"quiet": {why: ours, flag: true}, "verbose": {why: ours, flag: true}, "help": {why: ours, flag: true}, "usage": {why: ours, flag: true},
	"version": {why: ours, flag: true}, "kill-on-invalid-dep": {why: ours},
	"export": {why: "env of the service says what it gets"}, "export-file": {why: "env of the service says what it gets"},
	"get-user-env": {why: "env of the service says what it gets", flag: true},

	"partition": {why: siteWins}, "clusters": {why: siteWins}, "uid": {why: siteWins}, "gid": {why: siteWins},

	"array": {refused: "a job is one job: let clients submit as many as they want"},
	"wrap":  {refused: "the script is what runs"},

	"exclusive":     {note: "kept, but estimates count the processors of the width only", flag: true},
	"oversubscribe": {flag: true}, "overcommit": {flag: true}, "no-kill": {flag: true}, "spread-job": {flag: true}, "contiguous": {flag: true},
	"use-min-nodes": {flag: true}, "reboot": {flag: true}, "ignore-pbs": {flag: true}, "nice": {flag: true}, "propagate": {flag: true},
}

// letters are the long names of sbatch's short options.
var letters = map[byte]string{
	'n': "ntasks", 'N': "nodes", 'c': "cpus-per-task", 't': "time", 'J': "job-name", 'o': "output", 'e': "error", 'D': "chdir", 'i': "input",
	'b': "begin", 'd': "dependency", 'H': "hold", 'W': "wait", 'Q': "quiet", 'v': "verbose", 'h': "help", 'V': "version", 'p': "partition",
	'M': "clusters", 'a': "array", 'A': "account", 'q': "qos", 'C': "constraint", 'F': "nodefile", 'G': "gpus", 'L': "licenses", 'B': "extra-node-info",
	'S': "core-spec", 'w': "nodelist", 'x': "exclude", 'm': "distribution", 'O': "overcommit", 's': "oversubscribe", 'k': "no-kill", 'u': "usage",
}

// kept are long names that stand for themselves though they begin another one.
var kept = map[string]bool{"mem": true, "gpus": true, "account": true, "qos": true}

// longName returns the whole name of an option that sbatch would take for an
// abbreviation of one that is ruled about.
func longName(name string) string {
	if _, known := rulings[name]; known || kept[name] || name == "" {
		return name
	}
	full := ""
	for other := range rulings {
		if strings.HasPrefix(other, name) && (full == "" || len(other) < len(full) || len(other) == len(full) && other < full) {
			full = other
		}
	}
	if full != "" {
		return full
	}
	return name
}

// directive is one option of a script.
type directive struct {
	name  string // long
	value string
	given bool // it has a value
}

// String is how it is written for sbatch.
func (d directive) String() string {
	if d.given {
		return "--" + d.name + "=" + d.value
	}
	return "--" + d.name
}

// Overruled says why an option of sbatch, one word, cannot be added to submissions: it
// is not the site's to say, or would make something else of them. "" is one that can,
// as those that say only where a width is to be.
func Overruled(option string) string {
	name := option
	switch {
	case strings.HasPrefix(option, "--"):
		name, _, _ = strings.Cut(option[2:], "=")
		name = longName(name)
	case len(option) > 1:
		name = letters[option[1]]
	}
	r := rulings[name]
	switch {
	case name == "nodes" || strings.HasPrefix(name, "ntasks-per-"):
		return ""
	case r.why == siteWins:
		return "there is a key for it, or none"
	case r.refused != "":
		return r.refused
	}
	return r.why
}

// parseDirectives reads what follows #SBATCH on one line.
func parseDirectives(line string) ([]directive, error) {
	words, err := splitWords(line)
	if err != nil {
		return nil, err
	}
	var all []directive
	for i := 0; i < len(words); i++ {
		w := words[i]
		var d directive
		switch {
		case strings.HasPrefix(w, "--") && len(w) > 2:
			d.name, d.value, d.given = strings.Cut(w[2:], "=")
			d.name = longName(d.name)
		case strings.HasPrefix(w, "-") && len(w) > 1:
			name, known := letters[w[1]]
			if !known {
				return nil, fmt.Errorf("option %q, accepted: those of sbatch", w)
			}
			d.name = name
			if rest := strings.TrimPrefix(w[2:], "="); rest != "" {
				if rulings[name].flag { // -Hk: several letters
					words[i] = "-" + rest
					i--
				} else {
					d.value, d.given = rest, true
				}
			}
		default:
			return nil, fmt.Errorf("%q, accepted: an option", w)
		}
		if !d.given && !rulings[d.name].flag && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			d.value, d.given = words[i], true
		}
		all = append(all, d)
	}
	return all, nil
}

// splitWords splits a line as sbatch does: quotes hold words together, a backslash
// takes the meaning of the next character, and a # begins a comment.
func splitWords(line string) ([]string, error) {
	var words []string
	var w strings.Builder
	var quote byte
	in := false
	end := func() {
		if in {
			words = append(words, w.String())
		}
		w.Reset()
		in = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			w.WriteByte(line[i])
			in = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			w.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			end()
		case c == '#' && !in:
			return words, nil
		default:
			w.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote that is not closed")
	}
	end()
	return words, nil
}

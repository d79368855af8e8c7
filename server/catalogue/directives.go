package catalogue

import (
	"errors"
	"fmt"
	"strings"
)

// ruling decides what happens to an sbatch option of a batch script.
type ruling struct {
	why     string // reason for dropping the option; "": it is kept
	note    string // note to report about an option that is kept
	refused string // reason for refusing the whole script
	flag    bool   // the option takes no value, or only one after an equals sign
}

const (
	widthWins    = "the width that Drover chooses wins"
	walltimeWins = "the walltime that Drover chooses wins"
	ours         = "Drover sets it"
	siteWins     = "the site's configuration sets it"
	envWins      = "env of the service sets it"
)

// rulings holds the ruling for each sbatch option by its long name. Other options are
// kept, with a value.
var rulings = map[string]ruling{
	"ntasks": {why: widthWins}, "nodes": {why: widthWins}, "cpus-per-task": {why: widthWins},
	"ntasks-per-node": {why: widthWins},
	"ntasks-per-core": {why: widthWins}, "ntasks-per-socket": {why: widthWins}, "ntasks-per-gpu": {why: widthWins},
	"mincpus": {why: widthWins},
	"time":    {why: walltimeWins}, "time-min": {why: walltimeWins}, "deadline": {why: walltimeWins},

	"job-name": {why: ours}, "comment": {why: ours}, "output": {why: ours}, "error": {why: ours},
	"open-mode": {why: ours},
	"chdir":     {why: ours}, "input": {why: ours}, "begin": {why: ours}, "dependency": {why: ours},
	"delay-boot": {why: ours},
	"hold":       {why: ours, flag: true}, "requeue": {why: ours, flag: true}, "no-requeue": {why: ours, flag: true},
	"wait": {why: ours, flag: true}, "parsable": {why: ours, flag: true}, "test-only": {why: ours, flag: true},
	"quiet": {why: ours, flag: true}, "verbose": {why: ours, flag: true}, "help": {
		why:  ours,
		flag: true,
	}, "usage": {why: ours, flag: true},
	"version": {why: ours, flag: true}, "kill-on-invalid-dep": {why: ours},
	"export": {why: envWins}, "export-file": {why: envWins},
	"get-user-env": {why: envWins, flag: true},

	"partition": {why: siteWins}, "clusters": {why: siteWins}, "uid": {why: siteWins}, "gid": {why: siteWins},

	"array": {refused: "a service runs one job per request; clients submit arrays"},
	"wrap":  {refused: "the script is the program"},

	"exclusive":     {note: "kept, but estimates count the processors of the width only", flag: true},
	"oversubscribe": {flag: true}, "overcommit": {flag: true}, "no-kill": {flag: true}, "spread-job": {flag: true},
	"contiguous":    {flag: true},
	"use-min-nodes": {flag: true}, "reboot": {flag: true}, "ignore-pbs": {flag: true}, "nice": {flag: true},
	"propagate": {flag: true},
}

// letters maps sbatch's short options to their long names.
var letters = map[byte]string{
	'n': "ntasks", 'N': "nodes", 'c': "cpus-per-task", 't': "time", 'J': "job-name", 'o': "output", 'e': "error",
	'D': "chdir", 'i': "input",
	'b': "begin", 'd': "dependency", 'H': "hold", 'W': "wait", 'Q': "quiet", 'v': "verbose", 'h': "help",
	'V': "version", 'p': "partition",
	'M': "clusters", 'a': "array", 'A': "account", 'q': "qos", 'C': "constraint", 'F': "nodefile", 'G': "gpus",
	'L': "licenses", 'B': "extra-node-info",
	'S': "core-spec", 'w': "nodelist", 'x': "exclude", 'm': "distribution", 'O': "overcommit", 's': "oversubscribe",
	'k': "no-kill", 'u': "usage",
}

// kept holds the long names that are not abbreviations although they are prefixes of others.
var kept = map[string]bool{"mem": true, "gpus": true, "account": true, "qos": true}

// longName expands the abbreviation of an option that has a ruling, as sbatch does. Other
// names stay the same.
func longName(name string) string {
	if _, known := rulings[name]; known || kept[name] || name == "" {
		return name
	}
	full := ""
	for other := range rulings {
		if strings.HasPrefix(other, name) &&
			(full == "" || len(other) < len(full) || len(other) == len(full) && other < full) {
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
	given bool // whether it has a value
}

// String formats the option for sbatch.
func (d directive) String() string {
	if d.given {
		return "--" + d.name + "=" + d.value
	}
	return "--" + d.name
}

// Overruled returns why a site cannot add an sbatch option, given as one word, to its
// submissions: Drover sets it, or it would change what is submitted. It returns "" for an
// option that can be added, such as one that only places the tasks on nodes.
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
		return "use the key of the site's configuration, if it has one"
	case r.refused != "":
		return r.refused
	}
	return r.why
}

// parseDirectives parses the rest of one line after #SBATCH.
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
				return nil, fmt.Errorf("unknown option %q, accepted: the options of sbatch", w)
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

// splitWords splits a line as sbatch does: quotes join words, a backslash escapes the next
// character, and a # starts a comment.
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
		return nil, errors.New("unclosed quote")
	}
	end()
	return words, nil
}

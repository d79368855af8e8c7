package cmdline

import (
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// Exited is what the parser panics with where it would end the process, after --help.
type Exited int

// NewParser returns the parser of a program's command lines. flags is a pointer to a
// struct as kong describes it.
func NewParser(p *Process, flags any, name, description string, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(flags, append([]kong.Option{
		kong.Name(name),
		kong.Description(description),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(code int) { panic(Exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		Durations(),
	}, more...)...)
}

var negative = regexp.MustCompile(`^-\.?[0-9]`)

// JoinNegative joins a flag and the negative number behind it into one argument, --flag=-1.
// The parser would take the number for short flags; the command then reports the range.
func JoinNegative(args []string) []string {
	var out []string
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		last := len(out) - 1
		if negative.MatchString(arg) && last >= 0 && strings.HasPrefix(out[last], "--") && !strings.Contains(out[last],
			"=") {
			out[last] += "=" + arg
			continue
		}
		out = append(out, arg)
	}
	return out
}

// BuiltFrom returns the version of the source of this program, "(devel)" if unknown.
func BuiltFrom() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

package cmdline

import (
	"context"

	"github.com/alecthomas/kong"
)

// Program is a program with subcommands.
type Program struct {
	Name string
	// Parser returns the parser of its command lines.
	Parser func() (*kong.Kong, error)
	// Version prints the version.
	Version func() error
	// Command runs a parsed command. ctx ends with SIGINT or SIGTERM.
	Command func(ctx context.Context, parsed *kong.Context) error
	// Report prints an error, if there is one, and returns the exit code.
	Report func(error) int
}

// Run runs one command line and returns its exit code. It makes p.Stdout an Output.
func (g *Program) Run(p *Process) (code int) {
	out := &Output{To: p.Stdout}
	p.Stdout = out
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(Exited)
			if !ok {
				panic(v)
			}
			if code = int(e); code == ExitOK {
				code = g.Report(out.Failed())
			}
		}
	}()
	parser, err := g.Parser()
	if err != nil {
		return g.Report(err)
	}
	if len(p.Args) == 1 && p.Args[0] == "--version" { // without a command
		return g.Report(out.Check(g.Version()))
	}
	parsed, err := parser.Parse(JoinNegative(p.Args))
	if failed := out.Failed(); failed != nil { // of --help
		return g.Report(failed)
	}
	if err != nil {
		return g.Report(&UsageError{Message: err.Error(), Hint: g.Name + " --help, or --help after a command"})
	}
	ctx, stop := p.Signals(context.Background())
	defer stop()
	return g.Report(out.Check(g.Command(ctx, parsed)))
}

package nodetest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// Linger is the linger time of a supervisor: short, so that tests leave nothing behind for
// long.
const Linger = 300 * time.Millisecond

// Main runs a gate, a supervisor or one of the roles if the test binary was started as one;
// then it does not return.
func Main(roles map[string]func(args []string) error) {
	if len(os.Args) < 2 {
		return
	}
	args := os.Args[2:]
	switch name := os.Args[1]; name {
	case "gate":
		process.Gate()
	case "supervise":
		exit(supervise(args))
	default:
		if role, known := roles[name]; known {
			exit(role(args))
		}
	}
}

// exit skips exit handlers: the output of the race detector and the coverage tool would
// appear in a program's output.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

func supervise(args []string) error {
	flags := flag.NewFlagSet("supervise", flag.ExitOnError)
	dir := flags.String("dir", "", "")
	ready := flags.Uint("ready-fd", 0, "")
	leased := flags.Bool("leased", false, "")
	_ = flags.Parse(args)
	cfg := supervisor.ServeConfig{Dir: *dir, Linger: Linger, Leased: *leased, Level: hclog.Debug}
	if *ready != 0 {
		syscall.CloseOnExec(int(*ready))
		cfg.Ready = os.NewFile(uintptr(*ready), "ready")
	}
	return supervisor.Serve(context.Background(), cfg)
}

// Options are the options of a daemon's role.
type Options struct {
	Name, Dir, Listen string
	Processors        int // 0: all
}

// Serve is the role of a daemon: it prints a line when it is up, and runs until SIGTERM.
func Serve[D interface{ Run(context.Context) error }](
	args []string, open func(context.Context, Options) (D, error),
) error {
	flags := flag.NewFlagSet("node", flag.ExitOnError)
	var o Options
	flags.StringVar(&o.Name, "name", "", "")
	flags.StringVar(&o.Dir, "dir", "", "")
	flags.StringVar(&o.Listen, "listen", "", "")
	flags.IntVar(&o.Processors, "processors", 0, "")
	_ = flags.Parse(args)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := open(ctx, o)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, up); err != nil {
		return err
	}
	return d.Run(ctx)
}

const up = "up"

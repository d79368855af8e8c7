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

// Linger is how long a supervisor stays when it has nothing to do: short here, so that
// nothing stays behind for long.
const Linger = 300 * time.Millisecond

// Main makes the test binary a gate or a supervisor, or what one of the roles says, if it
// was started as that; then it does not return.
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

// exit goes straight out: what the race detector and the coverage tool do at the end of a
// program would show in its outputs.
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

// Options are what the role of a daemon is told.
type Options struct {
	Name, Dir, Listen string
	Processors        int // 0: all
}

// Serve is the role of a daemon: it says in a line that it is up, and runs until SIGTERM.
func Serve[D interface{ Run(context.Context) error }](args []string, open func(context.Context, Options) (D, error)) error {
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

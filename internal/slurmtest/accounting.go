package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Accounting is a slurmdbd that runs, and the database under it.
//
//	slurmctld A, B, … ─▶ slurmdbd ─▶ mariadbd      (a socket in a directory that
//	sacct, sacctmgr, sbatch -M ─▶ ─┘                only its owner can enter)
//
// The database is made for it alone, has no accounts of its own, and is thrown away
// with its directory.
type Accounting struct {
	dir      string
	munge    string // a socket
	port     string // of slurmdbd
	database *daemon
	slurmdbd *daemon
}

// OpenAccounting starts a slurmdbd at a port of loopback, with its database, in a
// directory that is there. munge is the socket of the authentication that its
// clusters use. Close ends both.
func OpenAccounting(ctx context.Context, dir, munge, port string) (*Accounting, error) {
	a := &Accounting{dir: dir, munge: munge, port: port}
	for _, sub := range []string{"log", "data"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("directory of the accounting: %w", err)
		}
	}
	if err := errors.Join(a.writeConf(), a.writeTables()); err != nil {
		return nil, fmt.Errorf("configuration of the accounting: %w", err)
	}
	var err error
	if a.database, err = launch(dir, nil, a.databaseArgs()...); err != nil {
		return nil, fmt.Errorf("database of the accounting: %w", err)
	}
	if err = a.database.until(ctx, func() bool { return listens("unix", a.socket()) }); err == nil {
		err = a.Up(ctx)
	}
	if err != nil {
		err = fmt.Errorf("accounting: %w: %s", err, a.Log())
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Up starts the slurmdbd, at first or after Down, and returns when it answers.
func (a *Accounting) Up(ctx context.Context) error {
	env := []string{"SLURM_CONF=" + a.Conf(), "MYSQL_UNIX_PORT=" + a.socket()}
	var err error
	if a.slurmdbd, err = launch(a.dir, env, "slurmdbd", "-D"); err != nil {
		return fmt.Errorf("slurmdbd: %w", err)
	}
	if err := a.slurmdbd.until(ctx, func() bool { return listens("tcp", a.address()) }); err != nil {
		return fmt.Errorf("slurmdbd: %w", err)
	}
	return nil
}

// Down ends the slurmdbd. Controllers keep for it what they have to say.
func (a *Accounting) Down() { a.slurmdbd.stop() }

// Close ends everything. The directory is its owner's to remove.
func (a *Accounting) Close() error {
	if a.slurmdbd != nil {
		a.slurmdbd.stop()
	}
	a.database.kill() // what it holds is thrown away
	return nil
}

// Register makes clusters known, before their controllers start.
func (a *Accounting) Register(ctx context.Context, clusters ...string) error {
	_, err := a.Try(ctx, append([]string{"sacctmgr", "--immediate", "add", "cluster"}, clusters...)...)
	return err
}

// AwaitControllers returns when the controllers of clusters have said where they
// are, as sbatch -M and sacctmgr have to know.
func (a *Accounting) AwaitControllers(ctx context.Context, clusters ...string) error {
	here := func() bool {
		out, err := a.Try(ctx, "sacctmgr", "--noheader", "--parsable2", "show", "cluster", "format=Cluster,ControlPort")
		known := strings.Fields(out)
		for _, name := range clusters {
			found := false
			for _, line := range known {
				cluster, port, _ := strings.Cut(line, "|")
				found = found || cluster == name && port != "0"
			}
			if !found {
				return false
			}
		}
		return err == nil
	}
	if err := a.slurmdbd.until(ctx, here); err != nil {
		return fmt.Errorf("controllers of %v are not known to slurmdbd: %w", clusters, err)
	}
	return nil
}

// Try runs a Slurm command about no cluster in particular and returns what it
// prints, trimmed.
func (a *Accounting) Try(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+a.Conf())
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, text)
	}
	return text, nil
}

// StartAccounted is Start, with a slurmdbd that all clusters share. It skips the
// test where there is none.
func StartAccounted(t testing.TB, configs ...Config) (*Accounting, []*Cluster) {
	t.Helper()
	demand(t, "slurmdbd", "mariadbd", "sacctmgr")
	root := shortDir(t)
	socket := startMunge(t, root)
	dir := filepath.Join(root, "accounting")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	a, err := OpenAccounting(ctx, dir, socket, port(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("accounting, the end of its log:\n%s", a.Log())
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	own := make([]Config, len(configs))
	names := make([]string, len(configs))
	for i, cfg := range configs {
		cfg.Lines = append(a.Lines(), cfg.Lines...)
		own[i], names[i] = cfg, cfg.Name
	}
	if len(names) > 0 {
		if err := a.Register(ctx, names...); err != nil {
			t.Fatal(err)
		}
	}
	clusters := startAll(t, root, socket, own)
	if err := a.AwaitControllers(ctx, names...); err != nil {
		t.Fatal(err)
	}
	return a, clusters
}

// Run runs a Slurm command about no cluster in particular, which has to succeed,
// and returns what it prints, trimmed.
func (a *Accounting) Run(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	out, err := a.Try(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Log returns the end of what slurmdbd has said.
func (a *Accounting) Log() string {
	const most = 4 << 10
	text, err := os.ReadFile(filepath.Join(a.dir, "log", "slurmdbd.out"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// until waits for something that a daemon is to do, as long as it runs.
func (d *daemon) until(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-d.gone:
			return fmt.Errorf("it has ended: %v", d.cmd.ProcessState)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// listens says whether somebody answers at an address.
func listens(network, address string) bool {
	conn, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was sent
	return true
}

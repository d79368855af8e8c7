package slurmd

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

// Account starts a slurmdbd for all clusters that are started after it.
func (h *Host) Account(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("accounting: %w", err)
		}
	}()
	port, err := port(ctx)
	if err != nil {
		return err
	}
	a := &Accounting{dir: filepath.Join(h.dir, "accounting"), munge: h.Socket(), port: port}
	for _, sub := range []string{"log", "data"} {
		if err := os.MkdirAll(filepath.Join(a.dir, sub), 0o700); err != nil {
			return err
		}
	}
	if err := errors.Join(a.writeConf(), a.writeTables()); err != nil {
		return err
	}
	if a.database, err = launch(a.dir, nil, a.databaseArgs()...); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	h.accounting = a // Close ends it from here on
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := a.database.until(ctx, func() bool { return listens(ctx, "unix", a.socket()) }); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return a.Up(ctx)
}

// Accounting returns what Account has started; nil if it has not.
func (h *Host) Accounting() *Accounting { return h.accounting }

// AccountingPrograms are what Account needs beside the usual ones, for Lacks.
var AccountingPrograms = []string{"slurmdbd", "mariadbd", "sacctmgr"}

// Up starts the slurmdbd, at first or after Down, and returns when it answers.
func (a *Accounting) Up(ctx context.Context) error {
	env := []string{"SLURM_CONF=" + a.Conf(), "MYSQL_UNIX_PORT=" + a.socket()}
	var err error
	if a.slurmdbd, err = launch(a.dir, env, "slurmdbd", "-D"); err != nil {
		return fmt.Errorf("slurmdbd: %w", err)
	}
	if err := a.slurmdbd.until(ctx, func() bool { return listens(ctx, "tcp", a.address()) }); err != nil {
		return fmt.Errorf("slurmdbd: %w", err)
	}
	return nil
}

// Down ends the slurmdbd. Controllers keep for it what they have to say.
func (a *Accounting) Down() { a.slurmdbd.stop() }

func (a *Accounting) end() {
	if a.slurmdbd != nil {
		a.slurmdbd.stop()
	}
	a.database.kill() // what it holds is thrown away
}

// register makes clusters known, before their controllers start.
func (a *Accounting) register(ctx context.Context, clusters ...string) error {
	_, err := a.Try(ctx, append([]string{"sacctmgr", "--immediate", "add", "cluster"}, clusters...)...)
	return err
}

// awaitControllers returns when the controllers of clusters have said where they
// are, as sbatch -M and sacctmgr have to know.
func (a *Accounting) awaitControllers(ctx context.Context, clusters ...string) error {
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
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
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
func listens(ctx context.Context, network, address string) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was sent
	return true
}

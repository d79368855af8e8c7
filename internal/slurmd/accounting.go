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

// Accounting is a running slurmdbd with its database.
//
//	slurmctld A, B, … ─▶ slurmdbd ─▶ mariadbd      (a socket in a directory that
//	sacct, sacctmgr, sbatch -M ─▶ ─┘                only its owner can enter)
//
// The database serves only this slurmdbd, has no user accounts, and is deleted with its
// directory.
type Accounting struct {
	dir      string
	munge    string // a socket
	port     string // of slurmdbd
	database *daemon
	slurmdbd *daemon
}

// Account starts a slurmdbd for all clusters that start after it.
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
	h.accounting = a // from here on Close ends it
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := a.database.until(ctx, func() bool { return listens(ctx, "unix", a.socket()) }); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return a.Up(ctx)
}

// Accounting returns the Accounting that Account started, nil before.
func (h *Host) Accounting() *Accounting { return h.accounting }

// AccountingPrograms are the additional programs that Account needs, for Lacks.
var AccountingPrograms = []string{"slurmdbd", "mariadbd", "sacctmgr"}

// Up starts the slurmdbd, also after Down, and returns when it answers.
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

// Down ends the slurmdbd. Controllers keep their records for it.
func (a *Accounting) Down() { a.slurmdbd.stop() }

func (a *Accounting) end() {
	if a.slurmdbd != nil {
		a.slurmdbd.stop()
	}
	a.database.kill() // its data is deleted anyway
}

// register adds clusters to the database before their controllers start.
func (a *Accounting) register(ctx context.Context, clusters ...string) error {
	_, err := a.Try(ctx, append([]string{"sacctmgr", "--immediate", "add", "cluster"}, clusters...)...)
	return err
}

// awaitControllers returns when the controllers of clusters have registered their
// addresses, which sbatch -M and sacctmgr need.
func (a *Accounting) awaitControllers(ctx context.Context, clusters ...string) error {
	registered := func() bool {
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
	if err := a.slurmdbd.until(ctx, registered); err != nil {
		return fmt.Errorf("controllers of %v have not registered with slurmdbd: %w", clusters, err)
	}
	return nil
}

// Try runs a Slurm command for slurmdbd and returns its trimmed output.
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

// Log returns the end of slurmdbd's log.
func (a *Accounting) Log() string {
	const longest = 4 << 10
	text, err := os.ReadFile(filepath.Join(a.dir, "log", "slurmdbd.out"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	return string(text[max(0, len(text)-longest):])
}

// until waits until a condition holds, and fails if the daemon ends before.
func (d *daemon) until(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-d.gone:
			return fmt.Errorf("daemon ended: %v", d.cmd.ProcessState)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// listens reports whether a process accepts connections at an address.
func listens(ctx context.Context, network, address string) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was sent
	return true
}

func (a *Accounting) address() string { return net.JoinHostPort("127.0.0.1", a.port) }
func (a *Accounting) socket() string  { return filepath.Join(a.dir, "data", "sock") }

// Conf returns the path of a slurm.conf for commands that only need slurmdbd.
func (a *Accounting) Conf() string { return filepath.Join(a.dir, "slurm.conf") }

// lines are the slurm.conf lines of the clusters that use this slurmdbd.
func (a *Accounting) lines() []string {
	return []string{
		"AccountingStorageType=accounting_storage/slurmdbd",
		"AccountingStorageHost=127.0.0.1",
		"AccountingStoragePort=" + a.port,
		"AccountingStoragePass=" + a.munge, // the path of its socket
	}
}

// writeConf writes slurmdbd.conf and, beside it, a slurm.conf for commands.
func (a *Accounting) writeConf() error {
	own := strings.Join([]string{
		"AuthType=auth/munge",
		"AuthInfo=socket=" + a.munge,
		"DbdHost=localhost",
		"DbdAddr=127.0.0.1",
		"DbdPort=" + a.port,
		"CommunicationParameters=NoInAddrAny",
		"SlurmUser=root",
		"DebugLevel=info",
		"PidFile=" + filepath.Join(a.dir, "slurmdbd.pid"),
		"StorageType=accounting_storage/mysql",
		"StorageHost=localhost", // by its socket
		"StorageUser=root",
		"StorageLoc=accounting",
	}, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(a.dir, "slurmdbd.conf"), []byte(own), 0o600); err != nil {
		return err
	}
	clients := append([]string{
		"ClusterName=none",
		"SlurmctldHost=localhost(127.0.0.1)",
		"SlurmUser=root",
		"AuthType=auth/munge",
		"AuthInfo=socket=" + a.munge,
	}, a.lines()...)
	return os.WriteFile(a.Conf(), []byte(strings.Join(clients, "\n")+"\n"), 0o644)
}

// systemTables are the directories in which Debian's MariaDB has the statements that
// create its system tables.
var systemTables = []string{"/usr/share/mysql", "/usr/share/mariadb"}

// writeTables writes the first statements of a new database. slurmdbd needs stored
// procedures, and those need the system tables.
func (a *Accounting) writeTables() error {
	var errs []error
	for _, dir := range systemTables {
		text, err := os.ReadFile(filepath.Join(dir, "mysql_system_tables.sql"))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		text = append([]byte("CREATE DATABASE mysql;\nUSE mysql;\n"), text...)
		return os.WriteFile(a.firstStatements(), text, 0o600)
	}
	return errors.Join(errs...)
}

func (a *Accounting) firstStatements() string { return filepath.Join(a.dir, "tables.sql") }

// databaseArgs start a new database without network and user accounts: access to its
// directory is access to its data. It does not sync, so that it starts fast.
func (a *Accounting) databaseArgs() []string {
	data := filepath.Join(a.dir, "data")
	args := []string{"mariadbd", "--no-defaults", "--user=root", "--skip-networking", "--skip-grant-tables"}
	for _, option := range [][2]string{
		{"datadir", data},
		{"socket", a.socket()},
		{"pid-file", filepath.Join(data, "pid")},
		{"init-file", a.firstStatements()},
		{"innodb-buffer-pool-size", "64M"},
		{"innodb-log-file-size", "8M"},
		{"innodb-lock-wait-timeout", "900"},
		{"innodb-flush-log-at-trx-commit", "0"},
		{"innodb-flush-method", "nosync"},
		{"performance-schema", "OFF"},
		{"max-connections", "40"},
	} {
		args = append(args, fmt.Sprintf("--%s=%s", option[0], option[1]))
	}
	return args
}

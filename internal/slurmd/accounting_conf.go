package slurmd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

func (a *Accounting) address() string { return net.JoinHostPort("127.0.0.1", a.port) }
func (a *Accounting) socket() string  { return filepath.Join(a.dir, "data", "sock") }

// Conf returns the path of a slurm.conf for commands that ask slurmdbd only.
func (a *Accounting) Conf() string { return filepath.Join(a.dir, "slurm.conf") }

// lines are those of the slurm.conf of every cluster that this slurmdbd keeps
// accounts of.
func (a *Accounting) lines() []string {
	return []string{
		"AccountingStorageType=accounting_storage/slurmdbd",
		"AccountingStorageHost=127.0.0.1",
		"AccountingStoragePort=" + a.port,
		"AccountingStoragePass=" + a.munge, // means its socket
	}
}

// writeConf writes slurmdbd.conf, which slurmdbd looks for beside slurm.conf, and a
// slurm.conf for commands.
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

// tables are where Debian's packages of MariaDB keep the statements that make its own
// tables.
var tables = []string{"/usr/share/mysql", "/usr/share/mariadb"}

// writeTables writes what a new database is to do first: slurmdbd wants procedures,
// which are kept in a table.
func (a *Accounting) writeTables() error {
	var errs []error
	for _, dir := range tables {
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

// databaseArgs start a new database without a network and without accounts: who can
// enter its directory may do everything. It loses what it holds with the power, so it
// is there at once.
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

package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// describe describes a cluster for a site with an account and a QOS.
func describe(t *testing.T, c *slurmtest.Cluster, account, qos string) (external.Description, error) {
	t.Helper()
	return New(Config{Conf: c.Conf(), Interval: time.Second, Account: account, QOS: qos}).Describe(t.Context())
}

func TestDescribeChecksAccountAndQOS(t *testing.T) {
	t.Parallel()
	a, clusters := slurmtest.StartAccounted(t,
		slurmtest.Config{Name: "strict", Nodes: 1, Lines: []string{"AccountingStorageEnforce=associations,qos"}},
		slurmtest.Config{Name: "lax", Nodes: 1})
	strict, lax := clusters[0], clusters[1]
	for _, command := range []string{
		"add qos quick", "add account physics Description=x Organization=y",
		"add account chemistry Description=x Organization=y", "add account biology Description=x Organization=y",
		"add user root Account=physics", "add user root Account=chemistry",
		"modify user root where Account=physics set qos+=quick",
	} {
		a.Run(t, append([]string{"sacctmgr", "-i"}, strings.Fields(command)...)...)
	}
	slurmtest.Until(t, "the controller knows the new accounts", func() bool {
		_, err := describe(t, strict, "physics", "quick")
		return err == nil
	})
	for _, c := range []struct {
		account, qos string
		want         []string
	}{
		{"", "", nil},
		{"chemistry", "", nil},
		{"chemistry", "normal", nil},
		{"biology", "", []string{
			`account: "biology", accepted: one of [chemistry physics root], accounts of user root`,
			"Invalid account",
		}},
		{"nobody", "quick", []string{`account: "nobody", accepted: one of [chemistry physics root]`}},
		{"physics", "slow", []string{`qos: "slow", accepted: one of [normal quick]`, "Invalid qos"}},
		{"chemistry", "quick", []string{`qos: "quick", accepted: one of [normal]`}},
	} {
		r, err := describe(t, strict, c.account, c.qos)
		if (err == nil) != (c.want == nil) || err == nil && len(r.Warnings) > 0 {
			t.Errorf("%q %q: %v, %v", c.account, c.qos, r.Warnings, err)
		}
		for _, part := range c.want {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%q %q: %v, want %q", c.account, c.qos, err, part)
			}
		}
	}
	for account, want := range map[string]string{"physics": "", "nobody": `account: "nobody" is not one of user root`} {
		r, err := describe(t, lax, account, "")
		if said := strings.Join(r.Warnings, "\n"); err != nil || (said == "") != (want == "") ||
			!strings.Contains(said, want) {
			t.Errorf("where Slurm does not enforce it, %q: %q, %v", account, said, err)
		}
	}

	s := newSite(t, strict)
	accounted := New(Config{Conf: strict.Conf(), Account: "physics", QOS: "quick", Timeout: 2 * time.Second})
	accounted.database = true
	s.Restart(func(c *external.Config) { c.Cluster = accounted })
	key := s.Submit(1, 1, batch.Minute, "true")
	s.AwaitPhase(key, batch.PhaseEnded)
	slurmtest.Until(t, "accounting has it with account and QOS", func() bool {
		return strings.HasPrefix(strict.Run(t, "sacct", "-nXP", "--name="+external.Name(key), "-o",
			"Account,QOS,State"),
			"physics|quick|COMPLETED")
	})

	a.Down()
	if r, err := describe(t, strict, "physics", "quick"); err != nil || len(r.Warnings) != 1 ||
		!strings.Contains(r.Warnings[0], "accounting does not answer") {
		t.Errorf("without slurmdbd: %v, %v", r.Warnings, err)
	}
	if _, err := describe(t, strict, "nobody", ""); err == nil || strings.Contains(err.Error(), "accepted") {
		t.Errorf("a wrong account without slurmdbd: %v", err)
	}
	// The site works without accounting.
	next := s.Submit(2, 1, batch.Minute, "exit 3")
	if f := s.AwaitPhase(next, batch.PhaseEnded); f.Outcome.ExitCode != 3 {
		t.Errorf("without slurmdbd: %+v", f)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, external.Name(next)+".end")); err != nil {
		t.Error(err)
	}
}

func FuzzRights(f *testing.F) {
	f.Add("physics||normal,quick\nroot|main|\n")
	f.Add("|||\nx|y\n")
	f.Fuzz(func(t *testing.T, out string) {
		for _, r := range parseRights(out) {
			if r.account == "" || strings.ContainsAny(r.account+r.partition+strings.Join(r.qos, ""), "|\n") {
				t.Fatalf("%+v", r)
			}
		}
	})
}

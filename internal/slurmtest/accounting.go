package slurmtest

import (
	"context"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// Accounting is a slurmdbd that runs, and the database under it.
type Accounting struct{ *slurmd.Accounting }

// StartAccounted is Start, with a slurmdbd that all clusters share. It skips the
// test where there is none.
func StartAccounted(t testing.TB, configs ...Config) (*Accounting, []*Cluster) {
	t.Helper()
	h := open(t, slurmd.AccountingPrograms...)
	if err := h.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := &Accounting{h.Accounting()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("accounting, the end of its log:\n%s", a.Log())
		}
	})
	return a, start(t, h, configs)
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

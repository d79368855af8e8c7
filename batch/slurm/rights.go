package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
)

// right is what a user may use: one line of the accounting database.
type right struct {
	account   string
	partition string // "": any
	qos       []string
}

// rights returns what the user that this process runs as may use on a cluster.
func (c *Commands) rights(ctx context.Context, cluster string) (who string, all []right, err error) {
	own, err := user.Current()
	if err != nil {
		return "", nil, fmt.Errorf("who runs this: %w", err)
	}
	out, err := c.run(ctx, nil, "sacctmgr", "--noheader", "--parsable2", "show", "associations",
		"cluster="+cluster, "user="+own.Username, "format=Account,Partition,QOS")
	if err != nil {
		return own.Username, nil, fmt.Errorf("rights: %w", err)
	}
	return own.Username, parseRights(out), nil
}

func parseRights(out string) []right {
	var all []right
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(f) != 3 || f[0] == "" {
			continue
		}
		all = append(all, right{
			account: f[0], partition: f[1],
			qos: strings.FieldsFunc(f[2], func(r rune) bool { return r == ',' }),
		})
	}
	return all
}

// checkRights holds the configured account and quality of service against what
// accounting knows, and says what is wrong with them: trial is what Slurm has said to
// them. Slurm looks at them only where it is told to (AccountingStorageEnforce), so that
// a wrong one that it takes is a note.
func (r *Report) checkRights(ctx context.Context, c *Config, trial error) (notes []string, err error) {
	var refused *RefusedError
	said := errors.As(trial, &refused)
	account := said && strings.Contains(refused.Text, "Invalid account")
	qos := said && strings.Contains(refused.Text, "Invalid qos")
	if trial != nil && !account && !qos || r.Settings.Accounting != slurmdbd {
		return nil, trial
	}
	who, all, err := c.Commands.rights(ctx, r.Settings.Cluster)
	switch {
	case trial != nil && err != nil:
		return nil, trial
	case account:
		return nil, wrong("account", c.Account, "accounts of user "+who, accounts(all), trial)
	case qos:
		return nil, wrong("qos", c.QOS, "those of user "+who, qualities(all, c.Account), trial)
	case err != nil:
		return []string{fmt.Sprintf("%v; how jobs have ended that the controller has forgotten is found out from %s", &AccountingError{Err: err}, r.elsewhere())}, nil //nolint:nilerr // the site works without it
	}
	if c.Account != "" && !slices.Contains(accounts(all), c.Account) {
		notes = append(notes, fmt.Sprintf("account: %q is none of user %s, but Slurm does not mind (AccountingStorageEnforce)", c.Account, who))
	}
	if known := qualities(all, c.Account); c.QOS != "" && !slices.Contains(known, c.QOS) && len(notes) == 0 {
		notes = append(notes, fmt.Sprintf("qos: %q is none of user %s, but Slurm does not mind (AccountingStorageEnforce)", c.QOS, who))
	}
	return notes, nil
}

// elsewhere says what there is besides accounting.
func (r *Report) elsewhere() string {
	if r.Settings.JobComp == filetxt {
		return "the file of completed jobs"
	}
	return "what they write themselves"
}

// wrong is the error about a key of the configuration.
func wrong(key, value, what string, accepted []string, err error) error {
	if value == "" {
		value = "(the default)"
	}
	if len(accepted) == 0 {
		return fmt.Errorf("%s: %q: %w (there are no %s)", key, value, err, what)
	}
	return fmt.Errorf("%s: %q, accepted: one of %v, %s: %w", key, value, accepted, what, err)
}

func accounts(all []right) []string {
	var names []string
	for _, r := range all {
		names = append(names, r.account)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// qualities are those of an account, or of all where it is "".
func qualities(all []right, account string) []string {
	var names []string
	for _, r := range all {
		if account == "" || r.account == account {
			names = append(names, r.qos...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

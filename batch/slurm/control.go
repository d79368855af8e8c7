package slurm

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Cancel asks for the end of jobs. Slurm answers the same for jobs that it does
// not know or that have ended: the queue says what has come of it.
func (c *Commands) Cancel(ctx context.Context, ids ...string) error {
	if _, err := c.run(ctx, nil, append([]string{"scancel", "--quiet"}, ids...)...); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return nil
}

// CancelNamed ends a job if it has this name, whoever has its number by now.
func (c *Commands) CancelNamed(ctx context.Context, id, name string) error {
	if _, err := c.run(ctx, nil, "scancel", "--quiet", "--name="+name, id); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return nil
}

// Hold keeps jobs that wait from being started. They may have started meanwhile,
// which Slurm does not always say: the queue does.
func (c *Commands) Hold(ctx context.Context, ids ...string) error {
	return c.control(ctx, "hold", "uhold", ids)
}

// Release lets held jobs be started.
func (c *Commands) Release(ctx context.Context, ids ...string) error {
	return c.control(ctx, "release", "release", ids)
}

func (c *Commands) control(ctx context.Context, what, verb string, ids []string) error {
	if _, err := c.run(ctx, nil, "scontrol", verb, strings.Join(ids, ",")); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// goneFrom says whether a refusal means that the job waits no more, or is not
// known.
func goneFrom(err error) bool {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	for _, p := range []string{"Invalid job id", "already finished", "no longer pending", "already completing", "Job is not pending"} {
		if strings.Contains(refused.Text, p) {
			return true
		}
	}
	return false
}

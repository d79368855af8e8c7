package exec

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/seed-9b8f70bb/drover/batch"
)

// measurements hands on what a test sends.
type measurements chan []Measurement

func (m measurements) Next(ctx context.Context) ([]Measurement, error) {
	select {
	case all, ok := <-m:
		if !ok {
			return nil, errors.New("nothing is measured any more")
		}
		return all, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestMeasuredNeedsReachThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newFakes(), make(measurements)
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: l, Measurements: m})
		do(t, s, minute())
		proc := <-l.launched
		synctest.Wait()
		m <- []Measurement{
			{Key: key("a"), CPU: 7, Memory: 1000},
			{Key: key("unknown"), CPU: 7},
			{Key: key("a"), CPU: 0},
			{Key: key("a"), CPU: batch.One + 1},
			{Key: key("a"), CPU: 1, Memory: -1},
			{Key: key("a"), CPU: 1, Group: 1},
			{Key: key("a"), CPU: 1, Group: -1},
			{Key: key("a"), CPU: batch.One},
		}
		synctest.Wait()
		proc.end <- Exit{}
		await(t, s, "a", batch.PhaseEnded)
		m <- []Measurement{{Key: key("a"), CPU: 8}}
		synctest.Wait()
		close(m)
		wantTold(t, s, p, "submit a, measured a group 0: 7, 1000 bytes, measured a group 0: 1048576, 0 bytes, finish a")
	})
}

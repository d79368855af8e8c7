package daemon

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

func TestLateSequencesAreNotApplied(t *testing.T) {
	var o sequencer
	a, b := node.ID{Key: batch.Key{Job: "a"}}, node.ID{Key: batch.Key{Job: "b"}}
	var done []string
	give := func(what string, id node.ID, is node.Sequence, last func(*applied) *node.Sequence) error {
		return o.apply(id, is, last, func() error { done = append(done, what); return nil })
	}
	first := o.begin()
	for _, step := range []struct {
		what string
		id   node.ID
		is   node.Sequence
		last func(*applied) *node.Sequence
		want error
	}{
		{"share 2", a, node.Sequence{Watch: first, Number: 2}, lastShares, nil},
		{"share 1, late", a, node.Sequence{Watch: first, Number: 1}, lastShares, nil},
		{"share of another", b, node.Sequence{Watch: first, Number: 1}, lastShares, nil},
		{"signal 1", a, node.Sequence{Watch: first, Number: 1}, lastSignal, nil},
		{"without a number", a, node.Sequence{}, lastShares, nil},
		{"of an unknown watch", a, node.Sequence{Watch: first + 1, Number: 9}, lastShares, node.ErrStale},
	} {
		if err := give(step.what, step.id, step.is, step.last); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.what, err, step.want)
		}
	}
	second := o.begin()
	if err := give("of the first watch", a, node.Sequence{Watch: first, Number: 8}, lastShares); !errors.Is(err,
		node.ErrStale) {
		t.Error(err)
	}
	if err := give("of the second watch", a, node.Sequence{Watch: second, Number: 1}, lastShares); err != nil {
		t.Error(err)
	}
	o.forget(a)
	if want := []string{
		"share 2", "share of another", "signal 1", "without a number", "of the second watch",
	}; !slices.Equal(done, want) {
		t.Errorf("%q", done)
	}
	if len(o.tasks) != 1 {
		t.Errorf("%d tasks are remembered", len(o.tasks))
	}
}

// The end arrives between the lookup of the task and the update of its node.Sequence.
func TestAnEndedTaskIsForgotten(t *testing.T) {
	var o sequencer
	id := node.ID{Key: batch.Key{Job: "a"}}
	watch := o.begin()
	o.forget(id)
	err := o.apply(id, node.Sequence{Watch: watch, Number: 1}, lastSignal, func() error { return os.ErrProcessDone })
	if !errors.Is(err, os.ErrProcessDone) || len(o.tasks) != 0 {
		t.Errorf("%v, %d tasks are remembered", err, len(o.tasks))
	}
}

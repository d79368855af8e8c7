package daemon

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

func TestOrdersThatAreLateAreNotCarriedOut(t *testing.T) {
	var o orders
	a, b := node.ID{Key: batch.Key{Job: "a"}}, node.ID{Key: batch.Key{Job: "b"}}
	var done []string
	give := func(what string, id node.ID, is order, last func(*given) *order) error {
		return o.carryOut(id, is, last, func() error { done = append(done, what); return nil })
	}
	first := o.begin()
	for _, step := range []struct {
		what string
		id   node.ID
		is   order
		last func(*given) *order
		want error
	}{
		{"share 2", a, order{first, 2}, lastShares, nil},
		{"share 1, late", a, order{first, 1}, lastShares, nil},
		{"share of another", b, order{first, 1}, lastShares, nil},
		{"signal 1", a, order{first, 1}, lastSignal, nil},
		{"without a number", a, order{}, lastShares, nil},
		{"of no watch that was", a, order{first + 1, 9}, lastShares, errLate},
	} {
		if err := give(step.what, step.id, step.is, step.last); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.what, err, step.want)
		}
	}
	second := o.begin()
	if err := give("of the first watch", a, order{first, 8}, lastShares); !errors.Is(err, errLate) {
		t.Error(err)
	}
	if err := give("of the second watch", a, order{second, 1}, lastShares); err != nil {
		t.Error(err)
	}
	o.forget(a)
	if want := []string{"share 2", "share of another", "signal 1", "without a number", "of the second watch"}; !slices.Equal(done, want) {
		t.Errorf("%q", done)
	}
	if len(o.tasks) != 1 {
		t.Errorf("%d tasks are remembered", len(o.tasks))
	}
}

// The daemon hears of the end between looking the task up and giving it the order.
func TestATaskThatHasEndedIsNotRemembered(t *testing.T) {
	var o orders
	id := node.ID{Key: batch.Key{Job: "a"}}
	watch := o.begin()
	o.forget(id)
	err := o.carryOut(id, order{watch, 1}, lastSignal, func() error { return os.ErrProcessDone })
	if !errors.Is(err, os.ErrProcessDone) || len(o.tasks) != 0 {
		t.Errorf("%v, %d tasks are remembered", err, len(o.tasks))
	}
}

package daemon

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// errLate is the answer to an order of an earlier watch than the last.
var errLate = errors.New("this order belongs to a watch that is over")

// order says which place an order has among those of a server; the zero order has none.
type order struct {
	watch, number uint64
}

func (o order) before(p order) bool {
	return o.watch < p.watch || o.watch == p.watch && o.number < p.number
}

// orders sees to it that what a network has held up undoes nothing that came later.
type orders struct {
	mu    sync.Mutex
	watch uint64 // the last one; 0: none
	tasks map[node.ID]*given
}

// given is what a task was told last. Who holds mu carries out an order.
type given struct {
	mu             sync.Mutex
	signal, shares order
}

// begin returns the number of a new watch, which no daemon of this node has had unless
// the clock was set back.
func (o *orders) begin() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watch = max(o.watch+1, uint64(time.Now().UnixNano()))
	return o.watch
}

// carryOut does what an order says, unless a later one was carried out before. Last
// returns which of a task's was the last of its kind.
func (o *orders) carryOut(id node.ID, is order, last func(*given) *order, do func() error) error {
	if is == (order{}) {
		return do()
	}
	o.mu.Lock()
	if is.watch != o.watch {
		o.mu.Unlock()
		return errLate
	}
	g := o.tasks[id]
	if g == nil {
		g = &given{}
		if o.tasks == nil {
			o.tasks = make(map[node.ID]*given)
		}
		o.tasks[id] = g
	}
	o.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if is.before(*last(g)) {
		return nil
	}
	*last(g) = is
	err := do()
	if errors.Is(err, os.ErrProcessDone) {
		o.forget(id) // its end may have been told before this was looked up
	}
	return err
}

func lastSignal(g *given) *order { return &g.signal }

func lastShares(g *given) *order { return &g.shares }

// forget drops a task that has ended.
func (o *orders) forget(id node.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.tasks, id)
}

// ended is told of the end of every task.
func (d *Daemon) ended(id node.ID, st attempt.Status) {
	d.orders.forget(id)
	d.watchers.tell(id, st)
}

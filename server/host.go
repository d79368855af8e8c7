package server

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
)

// host is a node of the site that is another host. Whenever it has been silent it is
// asked what it is.
type host struct {
	pool.Node
	far  *remote.Node
	want batch.Node // as the configuration has it
	log  hclog.Logger

	mu    sync.Mutex
	known bool // since it was silent last
	about node.Description
}

// Renew is pool.Node's. The pool renews one after the other.
func (h *host) Renew(ctx context.Context, lease time.Duration) error {
	err := h.Node.Renew(ctx, lease)
	h.mu.Lock()
	known := h.known && err == nil
	h.known = known
	h.mu.Unlock()
	if err != nil || known {
		return err
	}
	about, err := h.far.Describe(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.known, h.about = true, about
	h.mu.Unlock()
	h.tell(&about)
	return nil
}

// tell says what a node is, and what it lacks.
func (h *host) tell(d *node.Description) {
	if d.Processors < int(h.want.Processors) {
		h.log.Warn("the node has fewer processors than the configuration says: tasks get less than their shares", "has", d.Processors, "configured", h.want.Processors)
	}
	if d.Memory > 0 && d.Memory < h.want.Memory {
		h.log.Warn("the node has less memory than the configuration says: tasks may be killed for want of it", "has", d.Memory, "configured", h.want.Memory)
	}
	say, by := h.log.Info, make([]string, len(d.Offers))
	for i, o := range d.Offers {
		by[i] = o.Ability + "=" + o.Way
		if o.Way == cgroup.None.String() || o.Way == cgroup.Signals.String() {
			say = h.log.Warn
		}
	}
	say("what holds tasks to what they get there", "by", strings.Join(by, " "), "version", d.Version, "tasks", d.Tasks)
}

// offers returns how it does each thing; nothing while it was never there.
func (h *host) offers() []node.Offer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.about.Offers
}

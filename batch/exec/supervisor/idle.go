package supervisor

import "time"

// idle says when a supervisor may end: nobody is connected and nothing is left
// for a while; or, after stop, as soon as nothing is left.
type idle struct {
	linger time.Duration
	over   chan struct{} // closed at the end
	timer  *time.Timer   // runs while it may end
	fire   func()        // calls ended with the lock held

	connections, attempts int
	stopping, closed      bool
}

func (i *idle) update(attempts int) {
	i.attempts = attempts
	i.look()
}

func (i *idle) connected(change int) {
	i.connections += change
	i.look()
}

// stop asks for an end as soon as no attempt is left.
func (i *idle) stop() {
	i.stopping = true
	i.look()
}

func (i *idle) look() {
	switch {
	case i.attempts == 0 && i.stopping:
		i.end()
	case i.attempts == 0 && i.connections == 0:
		if i.timer == nil {
			i.timer = time.AfterFunc(i.linger, i.fire)
		}
	case i.timer != nil:
		i.timer.Stop()
		i.timer = nil
	}
}

// lapsed is called after linger, perhaps by a timer that was stopped too late.
func (i *idle) lapsed() {
	if i.attempts == 0 && i.connections == 0 && i.timer != nil {
		i.end()
	}
}

func (i *idle) end() {
	if !i.closed {
		i.closed = true
		close(i.over)
	}
}

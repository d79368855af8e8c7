package exec

import (
	"os"
	"sync"
	"syscall"
)

// fakes is a launcher of programs that end when the test says so, and on
// SIGKILL.
type fakes struct{ launched chan *fake }

type fake struct {
	spec Spec
	end  chan Exit // buffered
	mu   sync.Mutex
	gone bool
	got  []syscall.Signal
}

func newFakes() fakes { return fakes{launched: make(chan *fake, 1024)} }

func (l fakes) Launch(spec Spec) (Launched, error) {
	p := &fake{spec: spec, end: make(chan Exit, 1)}
	l.launched <- p
	return p, nil
}

func (p *fake) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return os.ErrProcessDone
	}
	p.got = append(p.got, sig)
	if sig == syscall.SIGKILL {
		select {
		case p.end <- Exit{Signal: sig}:
		default:
		}
	}
	return nil
}

func (p *fake) Wait() Exit {
	exit := <-p.end
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	return exit
}

func (p *fake) signals() []syscall.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

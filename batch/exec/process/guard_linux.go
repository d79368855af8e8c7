package process

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardPatience is how long a guard may take to read what it is told.
const guardPatience = time.Second

// Guard is a process that does nothing as long as this one lives, and kills whoever is
// in the control groups that it was told of when this one has ended, however it did.
type Guard struct {
	gate []string

	mu    sync.Mutex
	to    *os.File // nil: there is none
	id    int      // pidfd of the process behind it
	files map[string]bool
}

// StartGuard starts one; gate is the command that calls Gate. Whoever reaps the
// children of this process reaps it, too: one that was killed is replaced when it is
// told of the next group.
func StartGuard(gate []string) (*Guard, error) {
	g := &Guard{gate: gate, files: make(map[string]bool)}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g, g.start()
}

// start makes the process, and tells it all. The caller holds mu.
func (g *Guard) start() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start a guard: %w", err)
	}
	defer null.Close()
	theirs, ours, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start a guard: %w", err)
	}
	defer theirs.Close()
	// Descriptors as a gate has them. Signals to this one's group are not for it.
	_, err = syscall.ForkExec(g.gate[0], g.gate, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &g.id},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), theirs.Fd(), null.Fd()},
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start a guard: %w", err), ours.Close())
	}
	g.to = ours
	head := binary.LittleEndian.AppendUint32(nil, guardOrder)
	return g.tell(string(binary.LittleEndian.AppendUint32(head, 0)) + lines('+', slices.Sorted(maps.Keys(g.files))))
}

// Add tells it of control groups, by their files, before anybody is in them.
func (g *Guard) Add(files []string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range files {
		g.files[f] = true
	}
	if g.to != nil && g.tell(lines('+', files)) == nil {
		return nil
	}
	return g.start()
}

// Drop tells it that nobody is in them any more.
func (g *Guard) Drop(files []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range files {
		delete(g.files, f)
	}
	if g.to != nil {
		_ = g.tell(lines('-', files)) // the next one hears of those only that are left
	}
}

// tell writes to it; one that does not read is given up. The caller holds mu.
func (g *Guard) tell(text string) error {
	_ = g.to.SetWriteDeadline(time.Now().Add(guardPatience)) // a pipe takes one
	_, err := io.WriteString(g.to, text)
	if err == nil {
		return nil
	}
	// One that is only slow would kill all it knows of at the end of its pipe.
	if g.id >= 0 {
		_ = unix.PidfdSendSignal(g.id, unix.SIGKILL, nil, 0) // it has ended
		_ = unix.Close(g.id)                                 // nothing was written to it
	}
	_ = g.to.Close() // likewise
	g.to = nil
	return fmt.Errorf("tell the guard: %w", err)
}

// lines are what a guard is told of files.
func lines(sign byte, files []string) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteByte(sign)
		b.WriteString(f)
		b.WriteByte('\n')
	}
	return b.String()
}

// guard reads which groups there are until nobody is there who could write it, and
// then kills whoever is in them.
func guard(in io.Reader) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // it ends with its starter
	ClearGroups(guarded(in))
}

// guarded reads what a guard is told, and returns what it knows of at the end.
func guarded(in io.Reader) []string {
	files := make(map[string]bool)
	for r := bufio.NewReader(in); ; {
		line, err := r.ReadString('\n')
		if err != nil { // what has no end was not told
			return slices.Sorted(maps.Keys(files))
		}
		switch file := line[1:max(1, len(line)-1)]; line[0] {
		case '+':
			files[file] = true
		case '-':
			delete(files, file)
		}
	}
}

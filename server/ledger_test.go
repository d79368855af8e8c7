package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// ledgerYAML defines the services of servers in separate processes. A job writes one line
// to a ledger, waits until its gate is open, writes a file and exits with a code.
const ledgerYAML = `
    - name: once
      doc: Leaves a line in a ledger.
      args: &args
        - {name: ledger, type: string}
        - {name: gate, type: string}
        - {name: code, type: int, min: 0, max: 99, default: 0}
        - {name: out, type: file-out}
      command: &command [drover, "{ledger}", "{gate}", "{code}", "{out}"]
      env: &env {SERVER_TEST_MODE: ledger}
      model: {table: {1: 300s, 2: 150s, 4: 80s}}
    - name: again
      doc: The same, and may be executed twice.
      args: *args
      command: *command
      env: *env
      restartable: true
      model: {table: {1: 300s, 2: 150s, 4: 80s}}
    - name: fed
      doc: Copies a file once its gate is open.
      args:
        - {name: ledger, type: string}
        - {name: gate, type: string}
        - {name: input, type: file}
        - {name: out, type: file-out}
      command: [drover, "{ledger}", "{gate}", "0", "{out}", "{input}"]
      env: *env
      model: {table: {1: 300s, 2: 150s, 4: 80s}}
`

// ledger is the program of these services.
func ledger(args []string) error {
	id := os.Getenv("DROVER_JOB_ID")
	book, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(book, "%s %d\n", id, os.Getpid()); err != nil {
		return err
	}
	fmt.Println("ready", id)
	if args[1] != "" {
		gate, err := os.Open(args[1])
		if err != nil {
			return err
		}
		for {
			if err = unix.Flock(int(gate.Fd()), unix.LOCK_SH); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	fmt.Println("done", id)
	out := []byte("out of " + id)
	if len(args) > 4 {
		if out, err = os.ReadFile(args[4]); err != nil {
			return err
		}
	}
	return errors.Join(book.Close(), os.WriteFile(args[3], out, 0o600))
}

// ground is the ledger and the gate that a test's jobs share.
type ground struct {
	book string // ledger
	gate string
	lock *os.File
}

// newGround creates a ledger and a closed gate.
func newGround(t testing.TB) *ground {
	dir := t.TempDir()
	g := &ground{book: filepath.Join(dir, "ledger"), gate: filepath.Join(dir, "gate")}
	var err error
	if g.lock, err = os.Create(g.gate); err == nil {
		err = unix.Flock(int(g.lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.open)
	return g
}

// open opens the gate for all jobs.
func (g *ground) open() { _ = g.lock.Close() }

// lines returns the number of lines of each job, the jobs in the order of their first
// line, and the process of each job's last line.
func (g *ground) lines(t testing.TB) (count map[string]int, order []string, pid map[string]int) {
	t.Helper()
	text, err := os.ReadFile(g.book)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	count, pid = make(map[string]int), make(map[string]int)
	for line := range strings.Lines(string(text)) {
		var id string
		var p int
		if _, err := fmt.Sscanf(line, "%s %d\n", &id, &p); err != nil {
			t.Fatalf("ledger: %q: %v", line, err)
		}
		if count[id]++; count[id] == 1 {
			order = append(order, id)
		}
		pid[id] = p
	}
	return count, order, pid
}

// request returns a request for a job, which waits at the gate or not.
func (g *ground) request(service string, width int32, gated bool, code int64) *droverv1.Request {
	gate := ""
	if gated {
		gate = g.gate
	}
	return &droverv1.Request{Service: service, Width: width, Arguments: arguments{
		"ledger": text(g.book), "gate": text(gate), "code": number(code),
	}}
}

package pool_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch/exec/node/daemon"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// The test binary also runs as the daemons, their supervisors and the gates.
func TestMain(m *testing.M) {
	nodetest.Main(map[string]func([]string) error{"node": serve})
	goleak.VerifyTestMain(m)
}

func serve(args []string) error {
	return nodetest.Serve(args, func(ctx context.Context, o nodetest.Options) (*daemon.Daemon, error) {
		return daemon.New(ctx, daemon.Config{
			Name: o.Name, Dir: o.Dir, Listen: o.Listen,
			Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Warn}),
		})
	})
}

// rig is a node with its daemon, and the server's side of it.
type rig struct {
	*nodetest.Daemon
	far *remote.Node
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{Daemon: nodetest.New(t)}
	r.far = remote.New(remote.Config{Name: r.Name, Address: "http://" + r.Address, Site: "lyon", SiteID: "id1"})
	t.Cleanup(r.far.Close)
	return r
}

// eventually waits until a condition is true.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatal("not so after a minute: ", what)
		}
	}
}

// pids returns the process numbers that the processes of a test have written.
func pids(t testing.TB, dir string) (all []int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "pid.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			all = append(all, n)
		}
	}
	return all
}

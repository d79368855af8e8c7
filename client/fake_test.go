package client

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id = clienttest.ID

// newWorld returns a grid of fakes and a client of it. It is called in a bubble.
func newWorld(t *testing.T, cfg Config) (*clienttest.World, *Client) {
	w, transport := clienttest.New(t)
	if cfg.Agents == nil {
		cfg.Agents = []string{"http://agent"}
	}
	c, err := New(cfg, WithTransport(transport))
	if err != nil {
		t.Fatal(err)
	}
	return w, c
}

// newDepots returns a grid of fakes with data, and a client of it.
func newDepots(t *testing.T, cfg Config) (*clienttest.Depots, *Client) {
	g, transport := clienttest.NewDepots(t)
	if cfg.Agents == nil {
		cfg.Agents = []string{"http://agent"}
	}
	c, err := New(cfg, WithTransport(transport))
	if err != nil {
		t.Fatal(err)
	}
	return g, c
}

// patient is a configuration with a second for each call.
func patient(d time.Duration) Config {
	return Config{Patience: d, LongPatience: d, CallTimeout: time.Second}
}

// jobOf returns a job as if it had been received.
func jobOf(m *droverv1.Job) *Job {
	j := new(Job)
	rpc.From(m).Decode(j)
	return j
}

package main

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

var (
	nodesTime = flag.Duration("nodes.time", 0, "how long TestNodesSoak lets hosts fail; 0: not at all")
	nodesSeed = flag.Uint64("nodes.seed", 0, "seed of TestNodesSoak; 0: random")
)

// TestNodesSoak makes the hosts of a site fail at random: partitions that are shorter or longer
// than the lease, lost answers, power failures, killed daemons, and a killed server. The seed
// determines the faults; their timing depends on the machine.
func TestNodesSoak(t *testing.T) {
	if *nodesTime == 0 {
		t.Skip("-nodes.time is not set; make soak sets it")
	}
	seed := *nodesSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed: -nodes.seed %d", seed)
	const lease = 4 * time.Second
	r := rand.New(rand.NewPCG(seed, 1))
	policy := []string{"easy", "cbf", "dfrs"}[r.IntN(3)]
	t.Logf("policy %s", policy)
	s := &soak{
		cluster: newCluster(t, 3, 2, "lease: "+lease.String()+"\npolicy: {name: "+policy+"}\n", beatYAML), rand: r,
		lease: lease,
	}
	for end := time.Now().Add(*nodesTime); time.Now().Before(end) && !t.Failed(); {
		s.feed()
		s.fail()
	}
	s.check()
}

type soak struct {
	*cluster
	rand       *rand.Rand
	lease      time.Duration
	plain, all []string // IDs of the jobs that must run at most once, and of all jobs
}

// feed keeps ten jobs unfinished.
func (s *soak) feed() {
	open := 0
	for _, id := range s.all {
		// A lost job does not count as unfinished: it has written no line for several leases.
		if all := s.copies(id); len(all) == 0 ||
			!all[len(all)-1].ended && uptime(s.t)-all[len(all)-1].last < 4*s.lease.Seconds() {
			open++
		}
	}
	for ; open < 10; open++ {
		service := []string{"again", "beat"}[s.rand.IntN(2)]
		id := s.beat(service, "beats="+strconv.Itoa(1+s.rand.IntN(200)))
		s.all = append(s.all, id)
		if service == "beat" {
			s.plain = append(s.plain, id)
		}
	}
}

// fail causes a random fault for a while.
func (s *soak) fail() {
	m := s.nodes[s.rand.IntN(len(s.nodes))]
	while := time.Duration(s.rand.Int64N(int64(2 * s.lease)))
	var undo func()
	switch dice := s.rand.IntN(10); {
	case dice < 4:
		s.cut(m)
		undo = func() { s.heal(m) }
	case dice < 6:
		s.mute(m)
		undo = func() { s.unmute(m) }
	case dice < 8:
		s.off(m)
		undo = func() { s.start(m.daemon) }
	default:
		s.kill(m.daemon)
		undo = func() { s.start(m.daemon) }
	}
	parts := 1 + s.rand.IntN(3)
	for range parts {
		s.wait(while / time.Duration(parts))
		switch s.rand.IntN(4) {
		case 0: // the server fails, too
			s.kill(s.server)
			s.wait(time.Duration(s.rand.IntN(1000)) * time.Millisecond)
			s.start(s.server)
		case 1: // and another node
			if other := s.nodes[s.rand.IntN(len(s.nodes))]; other != m {
				s.cut(other)
				s.wait(time.Duration(s.rand.Int64N(int64(s.lease))))
				s.heal(other)
			}
		}
	}
	undo()
	s.wait(time.Duration(s.rand.IntN(1500)) * time.Millisecond)
}

// wait sleeps for d between two faults.
func (s *soak) wait(d time.Duration) { pause(s.t.Context(), d) }

func (s *soak) check() {
	lost, copies := 0, 0
	for _, id := range s.all {
		_, code := s.try("wait", id, "--patience", "1m")
		v := s.shown(id)
		all := s.copies(id)
		copies += len(all)
		switch {
		case v.GetState() == droverv1.JobState_JOB_STATE_DONE && len(all) > 0 && all[len(all)-1].ended:
		case v.GetState() == droverv1.JobState_JOB_STATE_FAILED && v.Outcome != nil && v.Outcome.ExitCode == 0 &&
			v.Outcome.Reason != "" && v.GetRequest().GetService() == "beat":
			lost++
		default:
			s.t.Errorf("job %s (exit code %d): %+v, outcome %+v, copies %+v", id, code, v, v.Outcome, all)
		}
	}
	for _, id := range s.plain {
		if all := s.copies(id); len(all) > 1 {
			s.t.Errorf("job %s ran %d times: %+v", id, len(all), all)
		}
	}
	s.t.Logf("%d jobs, %d of them lost with their nodes because they must run once; %d executions", len(s.all),
		lost, copies)
}

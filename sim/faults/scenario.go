package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// scenario describes the grid and the faults of a seed. Chances are per mille; 0 means never. A
// field that begins with every is the mean interval; 0 means never.
type scenario struct {
	sites, agents, jobs int
	blocked             bool           // each site has a long local job, so that the others wait
	rush                batch.Duration // within which the requests arrive
	crowd               int            // chance that a request goes to the first site
	procs               []int32
	policies            []string
	rates               []int64 // of the sites' clocks
	selves              []bool  // sites with a batch system that starts jobs unseen, as Slurm does
	patience            site.Patience
	tuning              site.Tuning
	attempts            uint32
	chaos               batch.Duration // how long faults occur

	loss, double, late, full, torn, gate, never int
	slow                                        batch.Duration // longest sync
	pull                                        batch.Duration // longest time to fetch a job's files
	// longest time until a claim is made, and until its result arrives
	claim                             batch.Duration
	launch                            batch.Duration // longest time until a launch arrives
	work                              batch.Duration // longest runtime
	crashEvery, superEvery, cutEvery  batch.Duration
	orderEvery, forgetEvery           batch.Duration
	jump                              int  // chance that the clock is set back at a restart
	cancel, giveUp, idempotent, local int  // chances of a job
	lost                              int  // the site that is lost for good; -1 for none
	written                           bool // records are kept as JSON
	ages                              bool // old messages arrive again after all sites have forgotten the jobs
	wide                              int  // chance of a request that is too wide for some sites
}

// counting are the policies of the simulated sites: those that count processors. A policy that
// chooses nodes would need every job's allocation after a restart.
var counting = policy.Names(func(e *policy.Entry) bool { return !e.Chooses() })

// draw draws the scenario of a seed. Small grids with many faults find more bugs than large
// ones.
func draw(r *rand.Rand) scenario {
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	span := func(of ...int) batch.Duration { return batch.Duration(pick(of...)) * batch.Second }
	sc := scenario{
		sites: pick(2, 2, 2, 3, 3, 4), agents: pick(1, 2, 2), jobs: pick(1, 2, 3, 5, 7, 9), blocked: r.IntN(3) > 0,
		rush: span(1, 5, 20), crowd: pick(0, 700, 1000),
		chaos: span(20, 40, 60, 90), attempts: uint32(pick(2, 10, 50)), tuning: site.Tuning(pick(0, 0, 0, 1)),
		loss: pick(0, 20, 100, 250), double: pick(0, 50, 200), late: pick(0, 50, 150, 300),
		full: pick(0, 0, 0, 20, 100), torn: pick(0, 10, 40), gate: pick(0, 0, 50), never: pick(0, 0, 20, 200),
		slow:   batch.Duration(pick(1, 30, 400, 2000)) * batch.Millisecond,
		pull:   batch.Duration(pick(1, 100, 3000)) * batch.Millisecond,
		claim:  batch.Duration(pick(1, 20, 300, 3000)) * batch.Millisecond,
		launch: batch.Duration(pick(2, 100, 3000)) * batch.Millisecond, work: span(5, 15, 30, 60),
		crashEvery: span(0, 8, 20, 40), superEvery: span(0, 0, 15, 40), cutEvery: span(0, 6, 15, 40),
		orderEvery: batch.Duration(pick(200, 500, 1000, 3000)) * batch.Millisecond, forgetEvery: span(0, 5, 20),
		jump: pick(0, 0, 300), cancel: pick(0, 100, 300, 700, 2500), giveUp: pick(0, 0, 100),
		idempotent: pick(0, 200, 500),
		local:      pick(0, 0, 100),
		lost:       -1, written: r.IntN(16) == 0, ages: r.IntN(4) == 0, wide: pick(0, 0, 200),
	}
	sc.patience = site.Patience{
		First: batch.Duration(pick(200, 500, 1000)) * batch.Millisecond, Longest: span(2, 4, 8),
		Move: span(3, 8, 20), Idle: span(1, 4, 10),
	}
	for range sc.sites {
		sc.procs = append(sc.procs, int32(pick(1, 1, 1, 2)))
		sc.selves = append(sc.selves, r.IntN(4) == 0)
		sc.policies = append(sc.policies, counting[r.IntN(len(counting))])
		sc.rates = append(sc.rates, unit+int64(pick(0, 0, 1, -1, 50, -50)))
	}
	if sc.sites > 2 && r.IntN(4) == 0 {
		sc.lost = r.IntN(sc.sites)
	}
	return sc
}

// Plant is a bug in the simulated environment that the checks must catch. Production code has
// none of them.
type Plant uint8

// The planted bugs.
const (
	Sound           Plant = iota
	SkipSync              // effects leave before the write they depend on is durable
	EarlyConfirm          // Confirm is sent when a handover begins, before the commit point
	DropOnSilence         // a target drops an incoming job after a time without messages
	LeaseIsProof          // a target drops an incoming job of a round once that round's lease must have expired
	EarlyCollection       // a source drops the record of a handed-over job before the target has confirmed
	KeptQueue             // after a failed commit the batch system keeps jobs that the core has forgotten
	NoWithdraw            // a client submits to another server without a withdrawal
	plants
)

var plantNames = [plants]string{
	Sound: "none", SkipSync: "skip-sync", EarlyConfirm: "early-confirm", DropOnSilence: "drop-on-silence",
	LeaseIsProof: "lease-is-proof", EarlyCollection: "early-collection", KeptQueue: "kept-queue",
	NoWithdraw: "no-withdraw",
}

// String returns the plant's name.
func (p Plant) String() string {
	if p < plants {
		return plantNames[p]
	}
	return "unspecified"
}

// Plants returns all planted bugs, without Sound.
func Plants() []Plant {
	all := make([]Plant, 0, plants)
	for p := Sound + 1; p < plants; p++ {
		all = append(all, p)
	}
	return all
}

// ParsePlant reads a plant's name; "" is Sound.
func ParsePlant(name string) (Plant, error) {
	if name == "" {
		return Sound, nil
	}
	if i := slices.Index(plantNames[:], name); i >= 0 {
		return Plant(i), nil
	}
	return Sound, fmt.Errorf("plant: %q, accepted: %s", name, strings.Join(plantNames[:], ", "))
}

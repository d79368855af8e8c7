package faults

import (
	"fmt"
	"slices"
	"strings"
)

// Plant is a bug that the simulation's driver can be given, to see that it is
// caught. None is in the code that production runs.
type Plant uint8

// The planted bugs.
const (
	Sound           Plant = iota
	SkipSync              // what a write allows is let go before the write is durable
	EarlyConfirm          // Confirm is sent when the job is being handed over, before the commit point
	DropOnSilence         // a target drops an incoming job when it has not heard of it for a while
	LeaseIsProof          // a target drops an incoming job of a round when that round's lease must be over
	EarlyCollection       // a source drops the record of a job that is gone before the target has confirmed
	KeptQueue             // after a commit that failed, the batch system goes on with what the core has forgotten
	NoWithdraw            // a client goes to another server without a withdrawal
	plants
)

var plantNames = [plants]string{
	Sound: "none", SkipSync: "skip-sync", EarlyConfirm: "early-confirm", DropOnSilence: "drop-on-silence",
	LeaseIsProof: "lease-is-proof", EarlyCollection: "early-collection", KeptQueue: "kept-queue", NoWithdraw: "no-withdraw",
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

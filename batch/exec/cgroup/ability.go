package cgroup

import (
	"fmt"
	"strings"
)

// Ability is one thing that a host may be able to do to a group.
type Ability int

// The abilities.
const (
	Shares     Ability = iota // hold the group to a share of the processors
	Processors                // say on which processors it runs
	Memory                    // hold it to an amount of memory
	Pausing                   // stop all of it and let it go on
	Killing                   // end all of it
	Measuring                 // processor time used
	abilities
)

func (a Ability) String() string {
	names := [...]string{"shares", "processors", "memory", "pausing", "killing", "measuring"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("ability %d", int(a))
	}
	return names[a]
}

// Way is how something is done.
type Way int

// The ways, best last.
const (
	None    Way = iota // not at all
	Signals            // to process groups; shares by duty cycles
	Duty               // shares by duty cycles of a freezer
	V1                 // a control group of the first version
	V2                 // a control group of the second version
)

func (w Way) String() string {
	names := [...]string{"none", "signals", "duty", "v1", "v2"}
	if w < 0 || int(w) >= len(names) {
		return fmt.Sprintf("way %d", int(w))
	}
	return names[w]
}

// Offer says how a host does something, and why in no better way.
type Offer struct {
	Ability Ability
	Way     Way
	Where   string // the directory in which the groups are made, if any
	Why     string // why no better way would do; empty if there is none
}

func (o Offer) String() string {
	text := fmt.Sprintf("%s: %s", o.Ability, o.Way)
	if o.Where != "" {
		text += " at " + o.Where
	}
	if o.Why != "" {
		text += " (" + o.Why + ")"
	}
	return text
}

// Offers is what a host offers, in the order of the abilities.
type Offers []Offer

// Of returns the way in which a is done.
func (o Offers) Of(a Ability) Way {
	if a < 0 || int(a) >= len(o) {
		return None
	}
	return o[a].Way
}

// String has a line for each ability.
func (o Offers) String() string {
	lines := make([]string, len(o))
	for i, offer := range o {
		lines[i] = offer.String()
	}
	return strings.Join(lines, "\n")
}

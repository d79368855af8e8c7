package batch

import (
	"errors"
	"fmt"
	"math/bits"
)

// MaxProcessors is the largest machine a policy accepts. It keeps sums of
// processors in an int32 with room for every intermediate step.
const MaxProcessors = 1 << 26

// Platform is the machine of one site.
type Platform struct {
	Nodes    []Node
	Licenses []LicensePool
}

// Node is one host. A policy names it by its index in Platform.Nodes.
type Node struct {
	Name       string
	Processors int32
	Memory     int64    // bytes; 0 is unknown and not counted
	Score      int32    // benchmark score; 0: all nodes are alike
	Licenses   []string // software it can run: node-bound, or floating on some nodes
}

// LicensePool is a floating license of the site.
type LicensePool struct {
	Name   string
	Copies int32
}

// Processors returns a platform of n single-processor nodes, the machine of a trace.
func Processors(n int32) Platform {
	nodes := make([]Node, max(n, 0))
	for i := range nodes {
		nodes[i].Processors = 1
	}
	return Platform{Nodes: nodes}
}

// Width returns the number of processors of all nodes.
func (p Platform) Width() int32 {
	var w int32
	for i := range p.Nodes {
		w += p.Nodes[i].Processors
	}
	return w
}

// MemoryPerProcessor returns the least memory per processor of any node, in bytes;
// 0 when a node's memory is unknown.
func (p Platform) MemoryPerProcessor() int64 {
	var least int64
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Memory == 0 || n.Processors == 0 {
			return 0
		}
		if m := n.Memory / int64(n.Processors); least == 0 || m < least {
			least = m
		}
	}
	return least
}

// Validate reports all errors of the platform.
func (p Platform) Validate() error {
	var errs []error
	var total int64
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Processors < 1 {
			errs = append(errs, fmt.Errorf("nodes[%d].processors: %d, accepted: at least 1", i, n.Processors))
		}
		if n.Memory < 0 {
			errs = append(errs, fmt.Errorf("nodes[%d].memory: %d, accepted: 0 (not known) or more", i, n.Memory))
		}
		total += int64(n.Processors)
	}
	if total < 1 || total > MaxProcessors {
		errs = append(errs, fmt.Errorf("processors: %d, accepted: 1..%d", total, int64(MaxProcessors)))
	}
	return errors.Join(errs...)
}

// Charge returns the processors that a count-based planner books for a job of
// width tasks with the given memory each: max(width, ceil(width × memory / memory
// per processor)). Unknown memory on either side costs nothing. A result above
// MaxProcessors is reported as MaxProcessors+1, which fits no platform.
func Charge(width int32, memory, perProcessor int64) int32 {
	if memory <= 0 || perProcessor <= 0 || memory <= perProcessor {
		return width
	}
	hi, lo := bits.Mul64(uint64(width), uint64(memory))
	if hi >= uint64(perProcessor) {
		return MaxProcessors + 1
	}
	q, r := bits.Div64(hi, lo, uint64(perProcessor))
	if r > 0 {
		q++
	}
	return int32(min(q, MaxProcessors+1))
}

//go:build !linux

package cgroup

import (
	"errors"
	"time"
)

// claims are Linux's: elsewhere no host offers processors.
type claims struct{}

func openClaims(string) (*claims, error) { return nil, errors.ErrUnsupported }

func (*claims) take(int) (bool, error) { return false, errors.ErrUnsupported }

func (*claims) release([]int) error { return nil }

func (*claims) close() error { return nil }

func affinity() ([]int, error) { return nil, errors.ErrUnsupported }

// processClock is Linux's: elsewhere nobody's use is known, and no share holds.
func processClock(int) (time.Duration, bool) { return 0, false }

//go:build !linux

package cgroup

import (
	"errors"
	"time"
)

// claims exist only on Linux: elsewhere no host offers processors.
type claims struct{}

func openClaims(string) (*claims, error) { return nil, errors.ErrUnsupported }

func (*claims) take(int) (bool, error) { return false, errors.ErrUnsupported }

func (*claims) release([]int) error { return nil }

func (*claims) close() error { return nil }

func affinity() ([]int, error) { return nil, errors.ErrUnsupported }

// processClock exists only on Linux: elsewhere use is unknown, and shares are not enforced.
func processClock(int) (time.Duration, bool) { return 0, false }

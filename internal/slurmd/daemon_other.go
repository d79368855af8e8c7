//go:build !linux

package slurmd

import "syscall"

// childAttributes have a daemon lead a group of its own.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

//go:build !linux

package slurmd

import "syscall"

// childAttributes give a daemon its own process group.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

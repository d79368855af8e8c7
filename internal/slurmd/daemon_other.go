//go:build !linux

package slurmd

import (
	"os/exec"
	"syscall"
)

// start starts a daemon in its own process group.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

package slurmd

import "syscall"

// childAttributes give a daemon its own process group and let it die with this process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

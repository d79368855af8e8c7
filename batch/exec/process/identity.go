package process

// ID is who a process is: its number alone may soon be another's.
type ID struct {
	Pid   int
	Start uint64 // clock ticks from boot to its start
	Boot  string // the kernel's name of the boot
}

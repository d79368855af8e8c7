package exec

import "syscall"

// Launcher starts programs. Launch may take long and is called from a goroutine
// of its own for each attempt. Its error text goes to the job's owner: it names
// no path of the server.
type Launcher interface {
	Launch(spec Spec) (Process, error)
}

// Process is a program that was started, with everything it starts itself.
type Process interface {
	// Signal sends sig to all of it. It returns os.ErrProcessDone, and sends
	// nothing, when the program has already ended.
	Signal(sig syscall.Signal) error
	// Wait returns when nothing of it is left. It is called once.
	Wait() Exit
}

// Spec is a program with everything it is told.
type Spec struct {
	Args   []string // argument vector; Args[0] is looked up in the server's PATH
	Env    []string // the whole environment, NAME=value, ascending
	Dir    string   // working directory, made if it is not there
	Stdout string   // file, truncated, with its parents made; "" discards
	Stderr string   // likewise; may be the same file
}

// Exit is how a process ended.
type Exit struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // that ended it, or 0
}

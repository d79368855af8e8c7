package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
)

// Spec is a program with everything it is told. Its arguments never pass
// through a shell.
type Spec struct {
	Args   []string // argument vector, at least one
	Path   string   // file of the program; "": Args[0] is looked up in this process's PATH
	Env    []string // the whole environment, NAME=value
	Dir    string   // working directory, made if it is not there; "" is this process's
	Stdout string   // file, truncated, mode 0600, with its parents made; "" discards
	Stderr string   // likewise; may be the same file
	Append bool     // nothing is truncated
}

// Exit is how a program ended.
type Exit struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // that ended it, or 0
	// Left says that killed processes of the group were still there after a long
	// wait, in a call to a dead file server for example.
	Left bool
}

// StartError is why a program was not started. Its text is for whoever wants
// the program run: it names no path of this host.
type StartError struct {
	Part string // "working directory", "standard output", "standard error" or "command NAME"
	Err  error  // in full, for the log
}

// Error names the part and what is wrong with it.
func (e *StartError) Error() string {
	err := e.Err
	var path *fs.PathError
	var look *osexec.Error
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &look):
		err = look.Err
	}
	return fmt.Sprintf("%s: %v", e.Part, err)
}

// Unwrap returns the whole error.
func (e *StartError) Unwrap() error { return e.Err }

// Look returns the file of the program that is called name, as the shell would
// find it in this process's PATH. A name with a slash is a file already.
func Look(name string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	return osexec.LookPath(name)
}

// command is the part of a start that runs args.
func command(args []string, err error) error {
	return &StartError{Part: "command " + filepath.Base(args[0]), Err: err}
}

// files are the open outputs of a program; nil ones are discarded.
type files struct{ stdout, stderr *os.File }

// prepare makes the directories and files of a program.
func (s *Spec) prepare() (files, error) {
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return files{}, &StartError{Part: "working directory", Err: err}
		}
	}
	var f files
	var err error
	if f.stdout, err = s.output(s.Stdout); err != nil {
		return files{}, &StartError{Part: "standard output", Err: err}
	}
	if f.stderr, err = s.output(s.Stderr); err != nil {
		f.close()
		return files{}, &StartError{Part: "standard error", Err: err}
	}
	return f, nil
}

// close lets go of them: the program has descriptors of its own, and nothing
// was written here.
func (f files) close() {
	for _, file := range []*os.File{f.stdout, f.stderr} {
		if file != nil {
			_ = file.Close()
		}
	}
}

func (s *Spec) output(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	// Appending keeps several processes, or both outputs in one file, from
	// overwriting each other.
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !s.Append {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(name, flags, 0o600)
}

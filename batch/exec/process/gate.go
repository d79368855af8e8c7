package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Spec is a program to run. Its arguments never pass through a shell.
type Spec struct {
	Args   []string // argument vector, at least one
	Path   string   // file of the program; "": Args[0] is looked up in this process's PATH
	Env    []string // the whole environment, NAME=value
	Dir    string   // working directory, created if it does not exist; "" is this process's
	Stdout string   // file, truncated, mode 0600, with its parents created; "" discards
	Stderr string   // as Stdout; may be the same file
	Append bool     // do not truncate
}

// Exit describes how a program ended.
type Exit struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // that ended the program, or 0
	// Left says that killed processes of the group still existed after GoneWait, in a call to
	// a dead file server for example.
	Left bool
}

// StartError is the cause of a failed start. Its text is a public message: it contains no
// path of this host.
type StartError struct {
	Part string // "working directory", "standard output", "standard error" or "command NAME"
	Err  error  // in full, for the log
}

// Error names the part and the cause.
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

// Unwrap returns the full error.
func (e *StartError) Unwrap() error { return e.Err }

// commandPart is how the StartError.Part of a program's execution begins.
const commandPart = "command "

// ErrorNumber returns why a program could not be executed: ENOENT, EACCES, E2BIG, ...; 0 if the
// error has another cause.
func ErrorNumber(err error) syscall.Errno {
	start, ok := errors.AsType[*StartError](err)
	if !ok || !strings.HasPrefix(start.Part, commandPart) {
		return 0
	}
	if errors.Is(err, osexec.ErrNotFound) {
		return syscall.ENOENT
	}
	number, _ := errors.AsType[syscall.Errno](err)
	return number
}

// NotExecutable reports whether an ErrorNumber means that the program is missing or not executable,
// whatever its arguments are.
func NotExecutable(number syscall.Errno) bool {
	switch number {
	case syscall.ENOENT, syscall.EACCES, syscall.EPERM, syscall.ENOEXEC, syscall.ENOTDIR, syscall.ELOOP,
		syscall.EISDIR, syscall.ETXTBSY:
		return true
	}
	return false
}

// Look resolves the program name as a shell would, in this process's PATH. A name with a
// slash is returned unchanged.
func Look(name string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	return osexec.LookPath(name)
}

// command is the StartError.Part of a program's execution.
func command(args []string, err error) error {
	return &StartError{Part: commandPart + filepath.Base(args[0]), Err: err}
}

// files are the open outputs of a program; nil ones are discarded.
type files struct{ stdout, stderr *os.File }

// prepare creates the directories and opens the files of a program.
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

// close closes the files: the program has its own descriptors, and nothing was written here.
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
	// With O_APPEND several processes, or both outputs in one file, do not overwrite each
	// other.
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !s.Append {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(name, flags, 0o600)
}

// The descriptors of a gate besides the three of its program.
const (
	gateFD   = 3 // input: what to run
	statusFD = 4 // output: the result
)

// What a gate exits with.
const (
	exitShut = 120 // it ended before the gate was opened
	exitExec = 121 // the program could not be executed
)

// passed is written by a gate before it executes the program, because the end of its pipe
// alone does not prove an exec.
const passed = 'G'

// largestPassage bounds a program's path, arguments and environment together, in bytes. Linux
// takes a quarter of the stack limit, usually 2 MiB.
const largestPassage = 64 << 20

// ErrShut is returned for a gate that ended before it was opened: the program has not run and
// never will.
var ErrShut = errors.New("the gate was shut before the program was executed")

// Gate turns this process into the program that its starter sends, or exits when the starter
// does. It does not return. See StartGuard for its other use.
func Gate() {
	syscall.CloseOnExec(gateFD)
	syscall.CloseOnExec(statusFD)
	in, out := os.NewFile(gateFD, "gate"), os.NewFile(statusFD, "status")
	p, err := readPassage(in)
	if errors.Is(err, errGuard) {
		guard(in)
		os.Exit(0)
	}
	if err != nil {
		os.Exit(exitShut)
	}
	// A starter that has died does not read this; the program is to run all the same.
	_, _ = out.Write([]byte{passed})
	err = syscall.Exec(p.path, p.args, p.env)
	var errno syscall.Errno
	errors.As(err, &errno)
	_, _ = out.Write(binary.LittleEndian.AppendUint32(nil, uint32(errno)))
	os.Exit(exitExec)
}

// readStatus waits for the result of an exec.
func readStatus(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, 5))
	switch {
	case err != nil:
		return fmt.Errorf("read the gate's answer: %w", err)
	case len(text) == 0:
		return ErrShut
	case len(text) == 5:
		return syscall.Errno(binary.LittleEndian.Uint32(text[1:]))
	}
	return nil
}

// guardOrder, in place of the length of a passage, turns a gate into a guard.
const guardOrder = 1<<32 - 1

// errGuard says that a gate is to become a guard.
var errGuard = errors.New("gate becomes a guard")

// passage is the content of a gate's input.
type passage struct {
	path string
	args []string
	env  []string
}

// A passage is encoded as the length of its body and the number of arguments, both uint32,
// and the body: path, arguments and environment, each ended by NUL. A truncated passage is
// never accepted.
const passageHead = 8

func (p *passage) encode() ([]byte, error) {
	text := make([]byte, passageHead)
	for _, list := range [][]string{{p.path}, p.args, p.env} {
		for _, s := range list {
			if bytes.IndexByte([]byte(s), 0) >= 0 {
				return nil, fmt.Errorf("NUL in %.40q: %w", s, syscall.EINVAL)
			}
			text = append(append(text, s...), 0)
		}
	}
	if len(text) > largestPassage {
		return nil, syscall.E2BIG
	}
	binary.LittleEndian.PutUint32(text, uint32(len(text)-passageHead))
	binary.LittleEndian.PutUint32(text[4:], uint32(len(p.args)))
	return text, nil
}

var errPassage = errors.New("malformed passage")

func readPassage(r io.Reader) (passage, error) {
	var head [passageHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return passage{}, fmt.Errorf("read a passage: %w", err)
	}
	size, args := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if size == guardOrder {
		return passage{}, errGuard
	}
	if size == 0 || size > largestPassage {
		return passage{}, errPassage
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err != nil || len(body) != int(size) {
		return passage{}, errors.Join(errPassage, err)
	}
	if body[size-1] != 0 {
		return passage{}, errPassage
	}
	var all []string
	for s := range bytes.SplitSeq(body[:size-1], []byte{0}) {
		all = append(all, string(s))
	}
	if args == 0 || int64(args) > int64(len(all)-1) {
		return passage{}, errPassage
	}
	return passage{path: all[0], args: all[1 : 1+args], env: slices.Clip(all[1+args:])}, nil
}

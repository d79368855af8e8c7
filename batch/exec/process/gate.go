package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
)

// The descriptors of a gate besides the three of its program.
const (
	gateFD   = 3 // what is to be run comes in here
	statusFD = 4 // what became of it goes out here
)

// What a gate exits with.
const (
	exitShut = 120 // nobody opened it
	exitExec = 121 // the program could not be executed
)

// passed is what a gate writes before it executes the program, so that the end
// of its pipe alone does not say that it did.
const passed = 'G'

// largestPassage bounds a program's path, arguments and environment together,
// in bytes. Linux takes a quarter of the limit of the stack, 2 MiB as a rule.
const largestPassage = 64 << 20

// ErrShut is returned for a gate that ended before it was open: the program
// has not run and never will.
var ErrShut = errors.New("the gate was shut before the program was executed")

// Gate is a process that becomes the program that its starter sends, or ends
// when the starter does. It does not return. See StartGuard for its other use.
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
	// A starter that is gone does not hear this, and the program was to run.
	_, _ = out.Write([]byte{passed})
	err = syscall.Exec(p.path, p.args, p.env)
	var errno syscall.Errno
	errors.As(err, &errno)
	_, _ = out.Write(binary.LittleEndian.AppendUint32(nil, uint32(errno)))
	os.Exit(exitExec)
}

// readStatus waits for what became of a program.
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

// guardOrder, where the length of a passage is expected, has a gate become a guard.
const guardOrder = 1<<32 - 1

// errGuard says that a gate is to be a guard.
var errGuard = errors.New("told to be a guard")

// passage is what goes through a gate.
type passage struct {
	path string
	args []string
	env  []string
}

// A passage is written as the length of its body and the number of arguments,
// both uint32, and the body: path, arguments and environment, each ended by NUL.
// A part of it is never taken for the whole.
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

var errPassage = errors.New("not what a gate is sent")

func readPassage(r io.Reader) (passage, error) {
	var head [passageHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return passage{}, fmt.Errorf("read a gate's order: %w", err)
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

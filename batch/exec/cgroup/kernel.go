package cgroup

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// kernel is the file system through which control groups are ruled. Tests put
// another one in its place, with other rules or in a worse mood.
type kernel interface {
	read(path string) (string, error)
	write(path, text string) error
	mkdir(path string) error
	rmdir(path string) error
	dirs(path string) ([]string, error) // names of the directories in it
}

type files struct{}

// read and write are called for every task that is measured, and every share that
// changes: a file of package os would be polled, for nothing.
func (files) read(path string) (string, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	text := make([]byte, 0, 512)
	for {
		n, err := again(func() (int, error) { return syscall.Read(fd, text[len(text):cap(text)]) })
		if err != nil {
			return "", &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return string(text), nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
	}
}

// write never makes a file: the kernel makes them all, and one that is missing
// is news. The text goes in one call, which is one value to the kernel.
func (files) write(path, text string) error {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	_, err = again(func() (int, error) { return syscall.Write(fd, []byte(text)) })
	if closing := syscall.Close(fd); err == nil {
		err = closing
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// again calls what a signal has interrupted once more.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR { //nolint:errorlint // as the kernel gave it
			return n, err
		}
	}
}

func (files) mkdir(path string) error { return os.Mkdir(path, 0o755) }

func (files) rmdir(path string) error {
	if err := syscall.Rmdir(path); err != nil {
		return &fs.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}

func (files) dirs(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

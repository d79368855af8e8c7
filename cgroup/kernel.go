package cgroup

import (
	"io/fs"
	"os"
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

func (files) read(path string) (string, error) {
	text, err := os.ReadFile(path)
	return string(text), err
}

// write never makes a file: the kernel makes them all, and one that is missing
// is news. The text goes in one call, which is one value to the kernel.
func (files) write(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
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

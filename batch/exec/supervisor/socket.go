package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The files of a supervisor in the data directory.
const (
	lockName   = "supervisor.lock"
	socketName = "supervisor.sock"
	logName    = "supervisor.log"
)

// longestAddress is below what every system takes as the path of a socket.
const longestAddress = 100

// withSocket calls do with a path of the directory's socket that is short enough.
func withSocket(dir string, do func(path string) error) error {
	path := filepath.Join(dir, socketName)
	if len(path) <= longestAddress {
		return do(path)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	defer d.Close()
	return do("/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + socketName)
}

// listen makes the socket, for this user only. The caller holds the lock, so
// that a socket that is there already is a dead one's.
func listen(ctx context.Context, dir string) (net.Listener, error) {
	var l net.Listener
	err := withSocket(dir, func(path string) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		mask := syscall.Umask(0o177)
		defer syscall.Umask(mask)
		made, err := new(net.ListenConfig).Listen(ctx, "unix", path)
		if err != nil {
			return err
		}
		// Its end takes the socket away by a path that is good then.
		made.(*net.UnixListener).SetUnlinkOnClose(false)
		l = made
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listen in the data directory: %w", err)
	}
	return l, nil
}

func dial(ctx context.Context, dir string) (net.Conn, error) {
	var conn net.Conn
	err := withSocket(dir, func(path string) error {
		var err error
		conn, err = new(net.Dialer).DialContext(ctx, "unix", path)
		return err
	})
	return conn, err
}

// gone reports whether a directory is no longer there.
func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

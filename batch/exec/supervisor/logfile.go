package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
)

// largestLog is the size of supervisor.log at which it becomes supervisor.log.1,
// in bytes.
const largestLog = 1 << 20

// logFile is a log of bounded size: the file and the one before it.
type logFile struct {
	name string

	mu   sync.Mutex
	file *os.File
	size int64
}

func openLog(dir string) (*logFile, error) {
	l := &logFile{name: filepath.Join(dir, logName)}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("log: %w", err), f.Close())
	}
	l.file, l.size = f, info.Size()
	// A crash is told there too, as nobody reads this process's stderr.
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// Write appends p. What cannot be written is dropped: a full disk must not
// keep programs from being watched.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > largestLog {
		old := l.file
		if err := os.Rename(l.name, l.name+".1"); err == nil && l.open() == nil {
			_ = old.Close() // its lines are as good as they get
		}
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	return len(p), nil
}

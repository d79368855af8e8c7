package client

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestSaveDoesNotReplaceADirectory(t *testing.T) {
	for _, path := range []string{t.TempDir(), "/", "."} {
		err := save("output a", path, func(io.Writer) error { t.Error("it is brought"); return nil })
		if !errors.Is(err, syscall.EISDIR) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if left, err := os.ReadDir(path); err == nil && path != "/" && path != "." && len(left) > 0 {
			t.Errorf("%s: left behind: %v", path, left)
		}
	}
}

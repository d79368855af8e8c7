package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDiskLosesNoExistingRecord(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("drover-test", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no tmpfs here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	attempts := filepath.Join(dir, "attempts")
	if _, _, err := Claim(attempts, "1-1", one, second(5)); err != nil {
		t.Fatal(err)
	}
	// The first line fills its page, so the next one needs another page.
	text := claimLine[:len(claimLine)-2] + strings.Repeat(" ", 4096-len(claimLine))
	if err := os.WriteFile(filepath.Join(attempts, "1-1"), []byte(text+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	if err := AppendRun(attempts, "1-1", leader, second(6)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("append: %v", err)
	}
	if won, _, err := Claim(attempts, "1-2", one, second(5)); won || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("claim: %v, %v", won, err)
	}
	if s, err := Read(attempts, "1-1"); err != nil || s.Run.Pid != 0 || s.Claimer.Kind != Supervisor {
		t.Errorf("%+v, %v", s, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := AppendRun(attempts, "1-1", leader, second(6)); err != nil {
		t.Error(err)
	}
	if won, _, err := Claim(attempts, "1-2", one, second(5)); !won || err != nil {
		t.Errorf("claim: %v, %v", won, err)
	}
}

package papers_test

import (
	"bytes"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

func TestIncludeReplacesTheTextBetweenTheMarks(t *testing.T) {
	begin, end := papers.Marks("dynp")
	page := []byte("before\n" + begin + "old\n" + end + "after\n")
	got, err := papers.Include(page, "dynp", "new\n")
	if err != nil || string(got) != "before\n"+begin+"\nnew\n\n"+end+"after\n" {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := papers.Include(got, "dynp", "new\n"); err != nil || !bytes.Equal(again, got) {
		t.Errorf("a second time: %q, %v", again, err)
	}
	for _, page := range []string{"", begin, end + begin} {
		if _, err := papers.Include([]byte(page), "dynp", "new"); err == nil {
			t.Errorf("%q is accepted", page)
		}
	}
}

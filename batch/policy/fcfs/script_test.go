package fcfs_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/batchtest"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

func TestScripts(t *testing.T) {
	batchtest.Run(t, "testdata/*.txt", fcfs.New, nil)
}

package server

import (
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/server/files"
)

// dataDir is the server's directory with the files that belong to Slurm.
type dataDir struct{ *files.Dir }

func openData(root string) (*dataDir, error) {
	d, err := files.Open(root)
	if err != nil {
		return nil, err
	}
	return &dataDir{d}, nil
}

// again is the directory in which a repeated start of an attempt reports itself.
func (d *dataDir) again() string { return filepath.Join(d.Root, "again") }

// clusterFile is the file with the last known state of Slurm.
func (d *dataDir) clusterFile() string { return filepath.Join(d.Root, "slurm.json") }

package server

import (
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/server/files"
)

// dataDir is the server's directory with the files of an external batch system.
type dataDir struct{ *files.Dir }

func openData(root string) (*dataDir, error) {
	d, err := files.Open(root)
	if err != nil {
		return nil, err
	}
	return &dataDir{d}, nil
}

// notices is the directory in which script starts of an external batch system leave
// notices for the server.
func (d *dataDir) notices() string { return filepath.Join(d.Root, "notices") }

// descriptionFile has the last description of an external batch system.
func (d *dataDir) descriptionFile() string { return filepath.Join(d.Root, "cluster.json") }
